// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// A faulty host passes reads on later, or to where no memory is; writes as they are.
#include <gtest/gtest.h>

#include <vector>

#include "host/faulty_host.hpp"

namespace hcasim::host {
namespace {

constexpr std::uint64_t kAddress = 0x1234'5678;
constexpr Time kAt = hw::kMicrosecond;

class Recorder final : public pcie::HostSide {
 public:
  Time write(std::uint64_t address, const void*, std::uint32_t, Time arrival) override {
    addresses.push_back(address);
    return arrival;
  }
  void read(pcie::ReadSink&, std::uint64_t, std::uint64_t address, void*, std::uint32_t,
            Time arrival) override {
    addresses.push_back(address);
    arrivals.push_back(arrival);
  }
  std::vector<std::uint64_t> addresses;
  std::vector<Time> arrivals;
};

class NoSink final : public pcie::ReadSink {
 public:
  void on_completion(std::uint64_t, std::uint64_t, std::uint32_t, hw::Time, bool) override {}
};

struct FaultyHostTest : ::testing::Test {
  void read(FaultyHost& host, int times) {
    for (int i = 0; i < times; ++i) host.read(sink, 0, kAddress, nullptr, 64, kAt);
  }
  Recorder memory;
  NoSink sink;
};

TEST_F(FaultyHostTest, ASlowReadIsLateByWhatItIsTold) {
  FaultyHost host(memory, {.slow_read = 0.5, .slow_read_ns = 300}, 1);
  host.begin(0);
  read(host, 1000);
  std::uint64_t slow = 0;
  for (const Time at : memory.arrivals) {
    EXPECT_TRUE(at == kAt || at == kAt + 300 * hw::kNanosecond);
    slow += at != kAt ? 1 : 0;
  }
  EXPECT_EQ(slow, host.counters().slow_reads);
  EXPECT_GT(slow, 400u);
  EXPECT_LT(slow, 600u);
}

TEST_F(FaultyHostTest, AFailingReadGoesWhereNoMemoryIsAndKeepsItsPlaceInAPage) {
  FaultyHost host(memory, {.read_error = 1, .read_error_after = 2}, 1);
  host.begin(0);
  read(host, 4);
  EXPECT_EQ(memory.addresses[1], kAddress);
  EXPECT_NE(memory.addresses[2], kAddress);
  EXPECT_EQ(memory.addresses[2] % 4096, kAddress % 4096);
  EXPECT_EQ(host.counters().read_errors, 2u);
}

TEST_F(FaultyHostTest, IsSoundBeforeItsTimeAndForWrites) {
  FaultyHost host(memory, {.read_error = 1}, 1);
  read(host, 3);
  host.begin(kAt);
  host.write(kAddress, nullptr, 64, kAt);
  EXPECT_EQ(memory.addresses, std::vector<std::uint64_t>(4, kAddress));
  read(host, 1);
  EXPECT_NE(memory.addresses.back(), kAddress);
}

}  // namespace
}  // namespace hcasim::host
