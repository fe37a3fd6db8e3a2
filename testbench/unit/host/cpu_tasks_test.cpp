// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// What a driver's tasks do with the CPU port: charged time, register reads, waits for interrupts.
#include <gtest/gtest.h>

#include "support/host_system.hpp"

namespace hcasim {
namespace {

using testing::default_link_ps;
using testing::System;
using Time = hw::Time;

TEST(CpuPort, TaskReadsARegisterInTheTimeOfALoad) {
  System s;
  std::uint64_t value = 0;
  Time end = 0;
  s.cpu().start_task([&] {
    EXPECT_TRUE(s.cpu().may_wait());
    s.cpu().charge(3000);
    value = s.cpu().mmio_read64(0x40);
    end = s.cpu().now();
  });
  EXPECT_FALSE(s.cpu().may_wait());
  s.run();
  EXPECT_EQ(value, 0xc0u);
  EXPECT_EQ(s.bar.read_at, 3000 + default_link_ps(24) + 20'000);
  EXPECT_EQ(end, 3000 + 400'000);
  s.expect_clean();
}

TEST(CpuPort, TaskLetsItsChargedTimePassBeforeItWaits) {
  System s;
  const auto point = s.cpu().make_wait_point();
  std::vector<Time> times;
  s.cpu().start_task([&] {
    s.cpu().charge(5000);
    EXPECT_FALSE(point->wait(1000));
    times.push_back(s.cpu().now());
    EXPECT_TRUE(point->wait(hw::kNever));
    times.push_back(s.cpu().now());
  });
  s.at.at(50'000, [&] { point->signal(); });
  s.run();
  EXPECT_EQ(times, (std::vector<Time>{6000, 50'000}));
}

// A driver's command: a task stores to the BAR and sleeps until the interrupt.
TEST(CpuPort, TaskWaitsForAnInterrupt) {
  System s;
  const auto point = s.cpu().make_wait_point();
  Time woken = 0;
  s.cpu().set_interrupt_handler(
      1,
      {[](void* p, std::uint64_t) { static_cast<hw::WaitPoint*>(p)->signal(); }, point.get(), 0});
  s.cpu().start_task([&] {
    s.cpu().mmio_write64(0x8, 1);
    EXPECT_TRUE(point->wait(hw::kSecond));
    woken = s.cpu().now();
  });
  s.at.at(300'000, [&] { s.dma.port().interrupt(1); });
  s.run();
  EXPECT_EQ(s.bar.writes.at(0).at, default_link_ps(32) + 20'000);
  EXPECT_EQ(woken, 300'000 + default_link_ps(28) + 80'000 + 1'500'000);
}

}  // namespace
}  // namespace hcasim
