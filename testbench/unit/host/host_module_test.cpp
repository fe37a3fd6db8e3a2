// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// A host and a small adapter over TLM sockets with a protocol checker on each, run under SystemC.
#define SC_INCLUDE_DYNAMIC_PROCESSES
#include "hcasim/hw/bar.hpp"
#include "support/host_system.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace hcasim {
namespace {

using testing::default_link_ps;
using testing::System;
using Time = hw::Time;

TEST(HostModule, DmaOverSocketsTakesTheSameTimeAsWithout) {
  System s;
  testing::PcieNode plain;
  const std::uint64_t a = s.cpu().allocate(4096, 4096);
  ASSERT_EQ(plain.memory.allocate(4096, 4096), a);
  std::vector<std::uint8_t> data(4096, 9);
  std::vector<std::uint8_t> back(4096);
  Time visible = 0;
  s.at.at(1000, [&] {
    visible = s.dma.port().write(a, data.data(), 4096);
    s.dma.port().read(a, back.data(), 4096, s.client, 1);
    s.dma.port().read(0x10, back.data(), 8, s.client, 2);  // not mapped
  });
  plain.at.at(1000, [&] {
    EXPECT_EQ(plain.endpoint.write(a, data.data(), 4096),
              1000 + default_link_ps(4096 + 16 * 24) + 20'000 + 60'000);
    plain.endpoint.read(a, back.data(), 4096, plain.client, 1);
    plain.endpoint.read(0x10, back.data(), 8, plain.client, 2);
  });
  plain.engine.run_before(hw::kNever);
  back.assign(4096, 0);
  s.run();
  EXPECT_EQ(visible, 1000 + default_link_ps(4096 + 16 * 24) + 20'000 + 60'000);
  EXPECT_EQ(s.client.done, plain.client.done);
  EXPECT_TRUE(s.client.done.at(0).error || s.client.done.at(1).error);
  EXPECT_EQ(back, data);
  s.expect_clean();
  EXPECT_EQ(s.dma_check->completed(), 3u);
  EXPECT_EQ(s.dma.payloads().in_use(), 0u);
}

TEST(HostModule, MmioOverSocketsIsHeldUpByTheAdapter) {
  System s;
  s.bar.full = true;
  s.at.at(0, [&] {
    s.cpu().begin_activity();
    for (std::uint64_t i = 0; i < 200; ++i) s.cpu().mmio_write64(0x100000, i);
    EXPECT_EQ(s.cpu().end_activity(), 200 * 10'000);
  });
  s.at.at(5'000'000, [&] {
    EXPECT_EQ(s.host.mmio().waiting(), 200u - 128u);  // all credits are used up
    s.bar.full = false;
    s.bar_socket.host().bar_ready();
  });
  s.run();
  ASSERT_EQ(s.bar.writes.size(), 200u);
  for (std::uint64_t i = 0; i < 200; ++i) EXPECT_EQ(s.bar.writes[i].value(), i);
  EXPECT_EQ(s.bar.writes[127].at, 5'000'000);
  EXPECT_EQ(s.bar.writes[128].at, 5'000'000 + 20'000 + default_link_ps(32) + 20'000);
  s.expect_clean();
  EXPECT_EQ(s.bar_check->completed(), 200u);
}

// With and without a module in between, which sees the accesses as transactions.
TEST(HostModule, AccessesThatNoBarTakesEndAlikeOnBothWays) {
  System direct(true, false, "d");
  System checked(true, true, "c");
  std::uint64_t values[2] = {0, 0};
  Time ends[2] = {0, 0};
  int i = 0;
  for (System* s : {&direct, &checked}) {
    std::uint64_t& value = values[i];
    struct Done {
      System* system;
      Time* end;
    };
    auto done = std::make_shared<Done>(Done{s, &ends[i++]});
    s->at.at(0, [s, done, &value] {
      s->host.mmio().read(hw::bar::kBytes - 4, value, 0,
                          {[](void* context, std::uint64_t) {
                             auto* self = static_cast<Done*>(context);
                             *self->end = self->system->now();
                           },
                           done.get(), 0});
      s->host.mmio().write(hw::bar::kBytes, &value, 8, 0);
    });
  }
  direct.conductor.schedule_next();
  checked.run();
  EXPECT_EQ(values[0], ~std::uint64_t{0});
  EXPECT_EQ(values[1], ~std::uint64_t{0});
  EXPECT_GT(ends[0], 0);
  EXPECT_EQ(ends[0], ends[1]);
  EXPECT_TRUE(direct.bar.writes.empty());
}

TEST(HostModule, TheShortCutLeavesTheSocketsAlone) {
  System s(true, false);
  std::uint64_t value = 5;
  const std::uint64_t a = s.cpu().allocate(64, 64);
  s.at.at(0, [&] {
    s.dma.port().write(a, &value, 8);
    s.dma.port().read(a, &value, 8, s.client, 1);
    s.cpu().mmio_write64(0x100000, 7);
  });
  s.run();
  EXPECT_EQ(s.client.done.size(), 1u);
  EXPECT_EQ(s.bar.writes.size(), 1u);
  EXPECT_EQ(s.dma.payloads().capacity(), 0u);
}

TEST(HostModule, StoresLeaveAfterTheTimeChargedBefore) {
  System s;
  s.at.at(7000, [&] {
    s.cpu().begin_activity();
    s.cpu().charge(40'000);
    EXPECT_EQ(s.cpu().now(), 47'000);
    s.cpu().mmio_write64(0x100000, 1);
    std::vector<std::uint8_t> lines(128, 3);
    s.cpu().mmio_write_block(0x100800, lines);
    EXPECT_EQ(s.cpu().end_activity(), 40'000 + 10'000 + 2 * 10'000);
    EXPECT_EQ(s.cpu().now(), 7000);
  });
  s.run();
  EXPECT_EQ(s.bar.writes.at(0).at, 47'000 + default_link_ps(32) + 20'000);
  EXPECT_EQ(s.bar.writes.at(1).at, 57'000 + default_link_ps(2 * 88) + 20'000);
}

// --- CPU port
// -------------------------------------------------------------------------------------

struct Calls {
  System* system;
  std::vector<std::pair<std::uint64_t, Time>> seen;
  static void note(void* self, std::uint64_t argument) {
    auto* calls = static_cast<Calls*>(self);
    calls->seen.push_back({argument, calls->system->cpu().now()});
    calls->system->cpu().charge(5);  // must not leak into the next activity
  }
  hw::Callback callback(std::uint64_t argument) { return {&Calls::note, this, argument}; }
};

using Seen = std::vector<std::pair<std::uint64_t, Time>>;

TEST(CpuPort, TimersFireOnceAtTheirTimeUnlessCancelled) {
  System s;
  Calls calls{&s, {}};
  s.at.at(100, [&] {
    s.cpu().start_timer(5000, calls.callback(1));
    const std::uint64_t second = s.cpu().start_timer(4000, calls.callback(2));
    const std::uint64_t third = s.cpu().start_timer(6000, calls.callback(3));
    EXPECT_NE(second, 0u);
    EXPECT_TRUE(s.cpu().cancel_timer(third));
    EXPECT_FALSE(s.cpu().cancel_timer(third));
    EXPECT_FALSE(s.cpu().cancel_timer(0));
    // A new timer takes the place of the cancelled one, whose event is still to come.
    s.cpu().start_timer(9000, calls.callback(4));
    s.at.at(4000, [&, second] { EXPECT_FALSE(s.cpu().cancel_timer(second)); });
  });
  s.run();
  EXPECT_EQ(calls.seen, (Seen{{2, 4000}, {1, 5000}, {4, 9000}}));
}

TEST(CpuPort, WatchCallsOnceWhenTheWriteIsVisible) {
  System s;
  Calls calls{&s, {}};
  const std::uint64_t a = s.cpu().allocate(128, 64);
  Time visible = 0;
  s.at.at(100, [&] {
    s.cpu().watch(a, 64, calls.callback(8));
    std::uint64_t value = 1;
    s.dma.port().write(a + 64, &value, 8);
    visible = s.dma.port().write(a, &value, 8);
    s.dma.port().write(a, &value, 8);
  });
  s.run();
  EXPECT_EQ(calls.seen, (Seen{{8, visible}}));
  EXPECT_THROW(s.cpu().watch(0x10, 64, calls.callback(0)), sim::SimulationError);
}

TEST(CpuPort, InterruptHandlerRunsBehindTheDataItAnnounces) {
  System s;
  Calls calls{&s, {}};
  const std::uint64_t a = s.cpu().allocate(64, 64);
  std::uint64_t got = 0;
  Time visible = 0;
  s.cpu().set_interrupt_handler(3, calls.callback(77));
  s.at.at(0, [&] {
    std::uint64_t value = 6;
    s.dma.port().write(a, &value, 8);
    s.dma.port().interrupt(3);
    visible = default_link_ps(32 + 28) + 20'000 + 60'000;
    s.at.at(visible + 1'500'000, [&] { s.cpu().read(a, &got, 8); });
  });
  s.run();
  EXPECT_EQ(calls.seen, (Seen{{77, visible + 1'500'000}}));
  EXPECT_EQ(got, 6u);
}

TEST(CpuPort, UnmappedAccessNamesTheAddress) {
  System s;
  std::uint64_t value = 0;
  try {
    s.cpu().read(0x1234, &value, 8);
    FAIL();
  } catch (const sim::SimulationError& error) {
    EXPECT_NE(std::string(error.what()).find("0x1234"), std::string::npos);
  }
}

// --- Whole-system properties
// ----------------------------------------------------------------------

// Reads and writes that depend on the times of earlier ones.
class Churn final : public pcie::DmaClient {
 public:
  Churn(System& system, int operations) : system_(system), left_(operations) {
    base_ = system.cpu().allocate(1 << 16, 4096);
    system.at.at(0, [this] {
      for (std::uint64_t i = 0; i < 8; ++i) on_dma_read(i, false);
    });
  }
  void on_dma_read(std::uint64_t token, bool) override {
    digest = digest * 1'000'003 + static_cast<std::uint64_t>(system_.now());
    if (--left_ < 0) return;
    const std::uint64_t where = base_ + digest % 60'000;
    const auto bytes = static_cast<std::uint32_t>(digest >> 40) % 4000 + 1;
    system_.dma.port().write(base_ + token * 64, buffer_, bytes % 256 + 1);
    system_.dma.port().read(where, buffer_, bytes, *this, token);
    if (left_ % 16 == 0) {
      system_.cpu().begin_activity();
      system_.cpu().mmio_write64(0x100000, digest);
      system_.cpu().end_activity();
    }
  }
  std::uint64_t digest = 1;

 private:
  System& system_;
  std::uint64_t base_;
  int left_;
  std::uint8_t buffer_[4096] = {};
};

TEST(HostModule, RunAheadAndCheckersChangeNothing) {
  System ahead(true, false, "a");
  System stepwise(false, false, "b");
  System checked(true, true, "c");
  Churn x(ahead, 2000);
  Churn y(stepwise, 2000);
  Churn z(checked, 2000);
  ahead.conductor.schedule_next();
  stepwise.conductor.schedule_next();
  checked.run();
  EXPECT_EQ(x.digest, y.digest);
  EXPECT_EQ(x.digest, z.digest);
  ASSERT_EQ(ahead.bar.writes.size(), 125u);
  for (std::size_t i = 0; i < 125; ++i)
    EXPECT_EQ(ahead.bar.writes[i].at, stepwise.bar.writes[i].at);
  checked.expect_clean();
  EXPECT_EQ(ahead.node.engine().events_run(), stepwise.node.engine().events_run());
  EXPECT_EQ(ahead.node.engine().events_run(), checked.node.engine().events_run());
  EXPECT_EQ(checked.dma_check->completed(), 4000u);
}

}  // namespace
}  // namespace hcasim
