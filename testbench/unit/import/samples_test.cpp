// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Captures of a stock driver: what is found must be what the traffic generators were told to do.
#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>
#include <string>

#include "sim/import/capture_analysis.hpp"
#include "support/samples.hpp"

namespace hcasim::sim {
namespace {

using Op = hw::WrOpcode;

/// One line of the expected results.
struct Row {
  const char* file;
  std::map<Op, std::uint64_t> messages;
  std::uint64_t refused;
  std::uint64_t unfinished;
  std::uint64_t bytes;
  std::uint64_t endpoints;
  std::uint64_t retransmitted;
  NakCounts naks;
  std::uint64_t management;
  std::uint64_t packets;
};

void PrintTo(const Row& row, std::ostream* out) {
  *out << row.file;
}

const Row kRows[] = {
    {"atomic_cas.pcap", {{Op::kAtomicCmpAndSwp, 20}}, 0, 0, 160, 2, 0, {}, 0, 40},
    {"atomic_fadd.pcap", {{Op::kAtomicFetchAndAdd, 20}}, 0, 0, 160, 2, 0, {}, 0, 40},
    {"dup_send.pcap", {{Op::kSend, 20}}, 0, 0, 40960, 2, 6, {}, 0, 76},
    {"loss_atomic.pcap", {{Op::kAtomicFetchAndAdd, 60}}, 0, 0, 480, 2, 21, {0, 1}, 0, 156},
    {"loss_send.pcap", {{Op::kSend, 30}}, 0, 0, 491520, 2, 1180, {0, 17}, 0, 1706},
    {"loss_write.pcap", {{Op::kRdmaWrite, 30}}, 0, 0, 491520, 2, 1985, {0, 22}, 0, 2521},
    {"mtu4096_write.pcap", {{Op::kRdmaWrite, 6}}, 0, 0, 393216, 2, 0, {}, 0, 102},
    {"multi_qp_send.pcap", {{Op::kSend, 80}}, 0, 0, 240000, 16, 0, {}, 0, 320},
    {"nak_access.pcap", {}, 1, 0, 0, 2, 0, {0, 0, 0, 1}, 0, 35},
    {"rc_pingpong.pcap", {{Op::kSend, 40}}, 0, 0, 40960, 2, 19, {}, 0, 118},
    {"rc_pingpong_frag.pcap", {{Op::kSend, 10}}, 0, 0, 100000, 2, 30, {}, 0, 170},
    {"rdma_client_server.pcap", {{Op::kSend, 2}}, 0, 0, 32, 2, 0, {}, 7, 11},
    {"read_bw.pcap", {{Op::kRdmaRead, 20}}, 0, 0, 163840, 2, 0, {}, 0, 180},
    {"read_lat.pcap", {{Op::kRdmaRead, 20}}, 0, 0, 1280, 2, 0, {}, 0, 40},
    {"rping.pcap",
     {{Op::kRdmaRead, 3}, {Op::kRdmaWrite, 3}, {Op::kSend, 12}},
     0,
     0,
     12192,
     2,
     0,
     {},
     5,
     41},
    {"send_bw_rnr.pcap", {{Op::kSend, 60}}, 0, 0, 122880, 2, 1058, {38, 38}, 0, 1428},
    {"send_bw_uc.pcap", {{Op::kSend, 20}}, 0, 0, 40960, 1, 0, {}, 0, 40},
    {"send_bw_ud.pcap", {{Op::kSend, 20}}, 0, 0, 20480, 1, 0, {}, 0, 20},
    {"send_lat.pcap", {{Op::kSend, 40}}, 0, 0, 2560, 2, 15, {}, 0, 110},
    {"uc_pingpong.pcap", {{Op::kSend, 40}}, 0, 0, 120000, 2, 0, {}, 0, 120},
    {"ud_pingpong.pcap", {{Op::kSend, 40}}, 0, 0, 40960, 2, 0, {}, 0, 40},
    {"udaddy.pcap", {{Op::kSendWithImm, 8}}, 0, 0, 2048, 2, 0, {}, 2, 10},
    {"write_bw.pcap", {{Op::kRdmaWrite, 40}}, 0, 0, 327680, 2, 0, {}, 0, 360},
    {"write_bw_uc.pcap", {{Op::kRdmaWrite, 20}}, 0, 0, 81920, 1, 0, {}, 0, 80},
    {"write_lat.pcap", {{Op::kRdmaWrite, 40}}, 0, 0, 320, 2, 14, {}, 0, 108},
};

class SampleCapture : public testing::TestWithParam<Row> {
 protected:
  void SetUp() override {
    const auto file = support::rxe_capture(GetParam().file);
    if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file;
    analysis_ = analyse_capture(file);
  }
  CaptureAnalysis analysis_;
};

TEST_P(SampleCapture, HasTheCountsOfItsTool) {
  const Row& row = GetParam();
  EXPECT_EQ(analysis_.messages, row.messages);
  EXPECT_EQ(analysis_.refused, row.refused);
  EXPECT_EQ(analysis_.unfinished, row.unfinished);
  EXPECT_EQ(analysis_.bytes, row.bytes);
  EXPECT_EQ(analysis_.endpoints.size(), row.endpoints);
  EXPECT_EQ(analysis_.retransmitted, row.retransmitted);
  EXPECT_EQ(analysis_.naks, row.naks);
  EXPECT_EQ(analysis_.management, row.management);
  EXPECT_EQ(analysis_.not_modelled, 0u);
  EXPECT_EQ(analysis_.unexplained, (std::map<std::string, std::uint64_t>{}));
  EXPECT_EQ(analysis_.packets, row.packets);
  EXPECT_EQ(analysis_.icrc, (IcrcCounts{row.packets, 0, 0}));
}

TEST_P(SampleCapture, HasConsistentRecords) {
  std::uint64_t bytes = 0;
  std::uint64_t frame = 0;
  for (const CapturedMessage& record : analysis_.records) {
    SCOPED_TRACE(record.first_frame);
    EXPECT_GT(record.first_frame, frame);
    frame = record.first_frame;
    const bool completed = record.outcome == MessageOutcome::kCompleted;
    EXPECT_EQ(record.completed.has_value(), completed);
    if (completed) {
      bytes += record.bytes;
      EXPECT_GE(*record.completed, record.first_packet);
    }
    EXPECT_EQ(record.refused_with.has_value(), record.outcome == MessageOutcome::kRefused);
    EXPECT_TRUE(record.requester_qpn_known || record.transport == hw::Transport::kUc);
    for (const hw::Time nak : record.rnr_naks) {
      ASSERT_TRUE(record.accepted);
      EXPECT_LT(nak, *record.accepted);
    }
  }
  EXPECT_EQ(bytes, analysis_.bytes);
}

INSTANTIATE_TEST_SUITE_P(Rxe, SampleCapture, testing::ValuesIn(kRows), [](const auto& row) {
  std::string name = row.param.file;
  return name.substr(0, name.find('.'));
});

}  // namespace
}  // namespace hcasim::sim
