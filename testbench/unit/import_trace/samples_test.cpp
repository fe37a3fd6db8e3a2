// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Real captures become traces that parse and hold every message of the capture once.
#include <gtest/gtest.h>

#include <map>

#include "sim/import/trace_from_capture.hpp"
#include "support/samples.hpp"
#include "trace_file.hpp"

namespace hcasim::sim {
namespace {

constexpr const char* kFiles[] = {
    "atomic_cas",       "atomic_fadd",        "dup_send",      "loss_atomic", "loss_send",
    "loss_write",       "mtu4096_write",      "multi_qp_send", "nak_access",  "rc_pingpong",
    "rc_pingpong_frag", "rdma_client_server", "read_bw",       "read_lat",    "rping",
    "send_bw_rnr",      "send_lat",           "write_bw",      "write_lat"};

class SampleTrace : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto file = support::rxe_capture(GetParam() + std::string(".pcap"));
    if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file;
    analysis_ = analyse_capture(file);
  }

  // Each message once, in the order of its connection, with its length.
  void check(const ImportOptions& options) {
    const test::TraceFile trace(analysis_, options);
    std::map<SendOpcode, std::uint64_t> sends;
    std::uint64_t bytes = 0;
    std::uint64_t into_receives = 0;
    for (const Operation& operation : trace.operations) {
      if (operation.verb != Verb::kPostSend) continue;
      ++sends[operation.opcode];
      bytes += operation.length();
      into_receives += uses_receive(operation.opcode) ? 1 : 0;
    }
    std::uint64_t expected_bytes = analysis_.bytes;
    std::map<SendOpcode, std::uint64_t> expected;
    for (const CapturedMessage& record : analysis_.records) {
      if (record.outcome == MessageOutcome::kUnfinished) continue;
      ++expected[static_cast<SendOpcode>(record.opcode)];
      if (record.outcome == MessageOutcome::kRefused) expected_bytes += record.bytes;
    }
    EXPECT_EQ(sends, expected);
    EXPECT_EQ(bytes, expected_bytes);
    EXPECT_EQ(trace.count(Verb::kPostRecv), into_receives);
    EXPECT_EQ(trace.result.receives, into_receives);
    EXPECT_EQ(trace.nodes, (std::vector<std::string>{"host1", "host2"}));
  }

  static bool uses_receive(SendOpcode opcode) {
    return opcode == SendOpcode::kSend || opcode == SendOpcode::kSendWithImm ||
           opcode == SendOpcode::kSendWithInv || opcode == SendOpcode::kRdmaWriteWithImm;
  }

  CaptureAnalysis analysis_;
};

TEST_P(SampleTrace, HoldsEveryMessageOnce) {
  for (const ReceivePolicy receives : {ReceivePolicy::kAhead, ReceivePolicy::kAsSeen}) {
    for (const TimingPolicy timing : {TimingPolicy::kCaptured, TimingPolicy::kAsap}) {
      ImportOptions options;
      options.receives = receives;
      options.timing = timing;
      check(options);
      options.max_recv_wr = 2;
      check(options);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rxe, SampleTrace, testing::ValuesIn(kFiles));

CaptureAnalysis sample(const char* name) {
  const auto file = support::rxe_capture(name);
  return std::filesystem::exists(file) ? analyse_capture(file) : CaptureAnalysis{};
}

TEST(SampleTrace, DatagramsAreImported) {
  const CaptureAnalysis analysis = sample("ud_pingpong.pcap");
  if (analysis.packets == 0) GTEST_SKIP();
  const test::TraceFile trace(analysis, {});
  EXPECT_EQ(trace.result.connections, 1U);
  EXPECT_EQ(trace.result.sends, 40U);
  EXPECT_EQ(trace.result.receives, 40U);
  EXPECT_EQ(trace.result.left_out, 0U);
}

TEST(SampleTrace, RefusedWriteHitsARegionWithoutRights) {
  const CaptureAnalysis analysis = sample("nak_access.pcap");
  if (analysis.packets == 0) GTEST_SKIP();
  const test::TraceFile trace(analysis, {});
  const Operation& write = trace.operations.back();
  EXPECT_EQ(trace.name(write.value(Arg::kRemoteMr)), "no_rights");
  EXPECT_NE(trace.text.find("reg_mr no_rights length="), std::string::npos);
  EXPECT_NE(trace.text.find("# refused in the capture with remote_access, here with "
                            "remote_access"),
            std::string::npos);
}

TEST(SampleTrace, ReceivesAsSeenAreLateWhereRnrNaksWere) {
  const CaptureAnalysis analysis = sample("send_bw_rnr.pcap");
  if (analysis.packets == 0) GTEST_SKIP();
  ImportOptions options;
  EXPECT_EQ(test::TraceFile(analysis, options).delayed(Verb::kPostRecv), 0U);
  options.receives = ReceivePolicy::kAsSeen;
  const test::TraceFile trace(analysis, options);
  std::uint64_t waited = 0;
  for (const CapturedMessage& record : analysis.records) waited += record.rnr_naks.empty() ? 0 : 1;
  EXPECT_GT(waited, 10U);
  EXPECT_EQ(trace.delayed(Verb::kPostRecv), waited);
  EXPECT_EQ(trace.operations.front().value(Arg::kMinRnrTimer), 12U);
}

TEST(SampleTrace, AsapPingPongIsAClosedLoop) {
  const CaptureAnalysis analysis = sample("rc_pingpong.pcap");
  if (analysis.packets == 0) GTEST_SKIP();
  ImportOptions options;
  options.timing = TimingPolicy::kAsap;
  const test::TraceFile trace(analysis, options);
  std::uint64_t after = 0;
  for (const Operation& operation : trace.operations) {
    after += operation.timing == Timing::kAfter ? 1 : 0;
  }
  EXPECT_EQ(after, 39U);
  EXPECT_EQ(trace.at_a_time(Verb::kPostSend), 1U);
}

}  // namespace
}  // namespace hcasim::sim
