// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Waiting after an RNR NAK: rvt_add_rnr_timer and what ends it.
#include <array>

#include "unit/driver/loopback_fixture.hpp"

namespace hcasim::rvt {
namespace {

class RnrTimerTest : public LoopbackTest {
 protected:
  static constexpr std::uint32_t kCode12 = 12u << RVT_AETH_CREDIT_SHIFT;  // 640 us
  static constexpr hw::Time kWait = 640 * hw::kMicrosecond;

  void SetUp() override {
    LoopbackTest::SetUp();
    connect();
    scheduled = 0;
    device->driver_f.schedule_send = [](rvt_qp*) { ++scheduled; };
    began = host.now();
  }
  bool waits() { return (rvt(a)->s_flags & RVT_S_WAIT_RNR) != 0; }

  inline static int scheduled = 0;
  hw::Time began = 0;
};

using RvtAddRnrTimer = RnrTimerTest;

TEST_F(RvtAddRnrTimer, WaitsForTheTimeOfTheCode) {
  rvt_add_rnr_timer(rvt(a), kCode12 | 0xffffff);
  EXPECT_TRUE(waits());
  host.run(began + kWait - 1);
  EXPECT_TRUE(waits());
  EXPECT_EQ(scheduled, 0);
  host.run(began + kWait);
  EXPECT_FALSE(waits());
  EXPECT_EQ(scheduled, 1);
  host.settle();
  EXPECT_EQ(scheduled, 1);  // once
}

TEST_F(RvtAddRnrTimer, StartsAnew) {
  rvt_add_rnr_timer(rvt(a), kCode12);
  host.run(began + kWait / 2);
  rvt_add_rnr_timer(rvt(a), kCode12);
  host.run(began + kWait / 2 + kWait - 1);
  EXPECT_EQ(scheduled, 0);
  host.run(began + kWait / 2 + kWait);
  EXPECT_EQ(scheduled, 1);
}

TEST_F(RvtAddRnrTimer, CodeZeroIsTheLongest) {
  rvt_add_rnr_timer(rvt(a), 0);
  host.run(began + 655'360 * hw::kMicrosecond - 1);
  EXPECT_EQ(scheduled, 0);
  host.run(began + 655'360 * hw::kMicrosecond);
  EXPECT_EQ(scheduled, 1);
}

TEST_F(RvtAddRnrTimer, TableIsThatOfTheSpecification) {
  // Each code from 1 on: two steps an octave, of 10 us at first.
  constexpr std::array<std::uint32_t, 32> kTable = {
      655360, 10,    20,    30,    40,    60,     80,     120,    160,    240,   320,
      480,    640,   960,   1280,  1920,  2560,   3840,   5120,   7680,   10240, 15360,
      20480,  30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520};
  for (std::uint32_t code = 0; code < 32; ++code) {
    EXPECT_EQ(rvt_rnr_tbl_to_usec(code), kTable[code]);
    EXPECT_EQ(rvt_rnr_tbl_to_usec(code + 32), kTable[code]);
  }
}

using RvtStopRnrTimer = RnrTimerTest;

TEST_F(RvtStopRnrTimer, EndsTheWaitButNotTheTimer) {
  rvt_add_rnr_timer(rvt(a), kCode12);
  rvt_stop_rnr_timer(rvt(a));
  EXPECT_FALSE(waits());
  EXPECT_EQ(host.timers_pending(), 1u);
  host.settle();
  EXPECT_EQ(scheduled, 1);
  rvt_stop_rnr_timer(rvt(a));  // no effect
}

using RvtRcRnrRetry = RnrTimerTest;

TEST_F(RvtRcRnrRetry, EndsTheWaitAndRunsTheEngineOnce) {
  rvt_add_rnr_timer(rvt(a), kCode12);
  EXPECT_EQ(rvt_rc_rnr_retry(rvt(a)), HRTIMER_NORESTART);
  EXPECT_FALSE(waits());
  EXPECT_EQ(scheduled, 1);
}

using RvtStopRcTimers = RnrTimerTest;

TEST_F(RvtStopRcTimers, CancelsWhatRuns) {
  rvt_add_rnr_timer(rvt(a), kCode12);
  rvt(a)->s_flags |= RVT_S_TIMER;
  rvt_stop_rc_timers(rvt(a));
  EXPECT_EQ(rvt(a)->s_flags & (RVT_S_TIMER | RVT_S_WAIT_RNR), 0u);
  EXPECT_EQ(host.timers_pending(), 0u);
}

TEST_F(RvtStopRcTimers, LeavesATimerThatNobodyWaitsFor) {
  rvt_add_rnr_timer(rvt(a), kCode12);
  rvt_stop_rnr_timer(rvt(a));
  rvt_stop_rc_timers(rvt(a));
  EXPECT_EQ(host.timers_pending(), 1u);
}

using RvtDelTimersSync = RnrTimerTest;

TEST_F(RvtDelTimersSync, CancelsWhateverTheFlagsSay) {
  rvt_add_rnr_timer(rvt(a), kCode12);
  rvt_stop_rnr_timer(rvt(a));
  rvt_del_timers_sync(rvt(a));
  EXPECT_EQ(host.timers_pending(), 0u);
  host.settle();
  EXPECT_EQ(scheduled, 0);
  rvt_del_timers_sync(rvt(a));  // no effect
}

}  // namespace
}  // namespace hcasim::rvt
