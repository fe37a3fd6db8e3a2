// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What a message of a capture waits for.
#include "made_analysis.hpp"

namespace hcasim::sim {
namespace {

TEST(Causes, AsapKeepsCauses) {
  Capture capture;
  capture.add(hw::WrOpcode::kSend, 1);                           // nothing before it
  capture.add(hw::WrOpcode::kSend, 2, host(2), host(1));         // after the first arrived
  capture.add(hw::WrOpcode::kSend, 3);                           // after the second arrived
  capture.add(hw::WrOpcode::kRdmaWrite, 4);                      // after the third was complete
  CapturedMessage& early = capture.add(hw::WrOpcode::kSend, 5);  // posted together with the fourth
  early.first_packet -= kMicrosecond;
  ImportOptions options;
  options.timing = TimingPolicy::kAsap;
  const auto trace = convert(capture, options);
  EXPECT_EQ(trace.lines("post_send"),
            (Lines{"host1 post_send qp1 SEND length=1 at=100000ns",
                   "host2 post_send qp1 SEND length=2 after=l1",
                   "host1 post_send qp1 SEND length=3 after=l1 label=l1",
                   "host1 post_send qp1 RDMA_WRITE length=4 remote=r1:0 after=l1",
                   "host1 post_send qp1 SEND length=5 after=l1"}));
  EXPECT_EQ(trace.lines("post_recv"),
            (Lines{"host2 post_recv qp1 length=5 label=l1", "host2 post_recv qp1 length=5",
                   "host2 post_recv qp1 length=5", "host1 post_recv qp1 length=2 label=l1"}));
}

TEST(Causes, FewLabelsAreEnough) {
  Capture capture;
  for (int i = 0; i < 1000; ++i) {
    const bool ping = i % 2 == 0;
    capture.add(hw::WrOpcode::kSend, 8, host(ping ? 1 : 2), host(ping ? 2 : 1));
  }
  ImportOptions options;
  options.timing = TimingPolicy::kAsap;
  options.max_recv_wr = 4;
  const auto trace = convert(capture, options);
  EXPECT_EQ(trace.delayed(Verb::kPostSend), 1000U);
  EXPECT_LT(trace.names.size(), 20U);
}

TEST(Causes, LateReceivesWaitForAsManyTimersAsThereWereNaks) {
  Capture capture;
  CapturedMessage& first = capture.add(hw::WrOpcode::kSend, 1);
  first.rnr_naks = {6 * kMicrosecond, 8 * kMicrosecond};
  first.rnr_timer_code = 1;  // 10 us
  first.accepted = first.completed = 10 * kMicrosecond;
  CapturedMessage& second = capture.add(hw::WrOpcode::kSend, 1);
  second.rnr_naks = {11 * kMicrosecond};
  second.accepted = second.completed = 12 * kMicrosecond;
  capture.add(hw::WrOpcode::kSend, 1);
  ImportOptions options;
  options.receives = ReceivePolicy::kAsSeen;
  const auto trace = convert(capture, options);
  EXPECT_EQ(trace.lines("post_recv"), (Lines{"host2 post_recv qp1 length=1 at=116000ns label=l1",
                                             "host2 post_recv qp1 length=1 after=l1+5000ns",
                                             "host2 post_recv qp1 length=1"}));
  EXPECT_NE(trace.text.find("min_rnr_timer=1 "), std::string::npos);
}

}  // namespace
}  // namespace hcasim::sim
