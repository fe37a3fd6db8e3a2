// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "folder.hpp"
#include "hcasim/sim/input_error.hpp"
#include "pair.hpp"
#include "support/file_size_limit.hpp"

namespace hcasim::sim::test {
namespace {

const std::string kHeader =
    "node,qp,wqe,opcode,bytes,status,posted_ns,doorbell_seen_ns,wqe_fetched_ns,"
    "first_packet_out_ns,last_packet_out_ns,first_packet_in_ns,rwqe_taken_ns,data_visible_ns,"
    "recv_cqe_visible_ns,recv_polled_ns,acknowledged_ns,send_cqe_visible_ns,send_polled_ns\n";

std::string header() {
  return kHeader;
}

TEST(CompletionsCsv, OneRowPerMessageWithItsStamps) {
  const Folder folder;
  Pair pair(folder / "completions.csv");
  const std::uint64_t send = pair.post(WrOpcode::kSend, 64, 100);
  pair.sent(send, 100);
  pair.received(send, 500);
  pair.acknowledged(send, 700);
  pair.send_cqe(send, 800);
  pair.receive_polled(64, 600);
  pair.a.send_polled(Pair::kQpA, 0, WcStatus::kSuccess, Pair::at(850) + 125);
  const std::uint64_t read = pair.post(WrOpcode::kRdmaRead, 4096, 900);
  pair.a.stamp(read, Stamp::kFirstPacketOut, Pair::at(930) + 500);
  pair.post(WrOpcode::kRdmaWriteWithImm, 1, 910);
  pair.post(WrOpcode::kAtomicCmpAndSwp, 8, 920);
  pair.send_polled(1, 950);
  pair.send_polled(2, 960, WcStatus::kRemOpErr);
  pair.close(1000);
  EXPECT_EQ(
      text_of(folder / "completions.csv"),
      kHeader + std::string("a,qa,0,SEND,64,SUCCESS,100,110,120,130,140,500,510,520,530,600,700,"
                            "800,850.125\n"
                            "a,qa,1,RDMA_READ,4096,SUCCESS,900,,,930.5,,,,,,,,,950\n"
                            "a,qa,2,RDMA_WRITE_WITH_IMM,1,REM_OP_ERR,910,,,,,,,,,,,,960\n"
                            "a,qa,3,ATOMIC_CMP_AND_SWP,8,UNFINISHED,920,,,,,,,,,,,,\n"));
  EXPECT_EQ(folder.files(), 1u);
}

TEST(CompletionsCsv, ARetransmissionMovesOnlyTheEnds) {
  const Folder folder;
  Pair pair(folder / "c.csv");
  const std::uint64_t message = pair.post(WrOpcode::kSend, 64, 100);
  pair.sent(message, 100);
  pair.sent(message, 300);
  pair.received(message, 500);
  pair.b.stamp(message, Stamp::kFirstPacketIn, Pair::at(900));
  // Another copy, which UC takes for a message of its own.
  pair.b.stamp(message, Stamp::kRwqeTaken, Pair::at(910));
  pair.b.stamp(message, Stamp::kDataVisible, Pair::at(920));
  pair.receive_polled(64, 600);
  pair.send_polled(0, 850);
  pair.close(1000);
  EXPECT_EQ(text_of(folder / "c.csv"),
            header() + "a,qa,0,SEND,64,SUCCESS,100,110,120,130,340,500,510,520,530,600,,,850\n");
}

TEST(CompletionsCsv, ARowWaitsForTheReceiver) {
  const Folder folder;
  Pair pair(folder / "c.csv");
  for (int i = 0; i < 2; ++i) {
    const std::uint64_t message = pair.post(WrOpcode::kSend, 64, 100);
    pair.b.stamp(message, Stamp::kFirstPacketIn, Pair::at(110));
    pair.b.receive_completed(Pair::kQpB, message);
  }
  pair.send_polled(1, 200);
  pair.receive_polled(64, 250);
  const RunStatistics statistics = pair.close(1000);  // the second is never polled
  EXPECT_EQ(statistics.messages_completed, 2u);
  EXPECT_EQ(text_of(folder / "c.csv"), header() +
                                           "a,qa,0,SEND,64,SUCCESS,100,,,,,110,,,,250,,,\n"
                                           "a,qa,1,SEND,64,SUCCESS,100,,,,,110,,,,,,,200\n");
}

TEST(CompletionsCsv, NamesWithCommasAreQuoted) {
  const Folder folder;
  Recorder recorder({folder / "c.csv", hw::kMillisecond});
  NodeRecorder& node = recorder.add_node("a,b");
  node.qp_created(1, "say \"q\"");
  recorder.set_epoch(0);
  node.send_posted(1, WrOpcode::kSend, 1, 0);
  recorder.close(0);
  EXPECT_EQ(text_of(folder / "c.csv"),
            header() + "\"a,b\",\"say \"\"q\"\"\",0,SEND,1,UNFINISHED,0,,,,,,,,,,,,\n");
}

// Many messages both ways; the nodes report in turns of `turn` messages, one ahead of the other.
std::string rows_with(const Folder& folder, std::uint64_t turn) {
  constexpr std::uint64_t kMessages = 30'000;
  Recorder recorder({folder / "c.csv", 10 * hw::kMicrosecond});
  NodeRecorder* const nodes[] = {&recorder.add_node("a"), &recorder.add_node("b")};
  for (NodeRecorder* node : nodes) node->qp_created(1, "q");
  recorder.set_epoch(0);
  for (std::uint64_t begin = 0; begin < kMessages; begin += turn) {
    for (NodeRecorder* node : nodes) {
      for (std::uint64_t i = begin; i < std::min(begin + turn, kMessages); ++i) {
        const Time now = static_cast<Time>(i) * 20 * kNanosecond;
        node->send_posted(1, WrOpcode::kRdmaWrite, i, now);
        if (i % 3 == 2) node->send_polled(1, i, WcStatus::kSuccess, now + 7 * kNanosecond);
      }
    }
  }
  recorder.close(hw::kSecond);
  return text_of(folder / "c.csv");
}

TEST(CompletionsCsv, TheOrderOfRowsDoesNotDependOnWhoRunsAhead) {
  const Folder folder;
  const std::string rows = rows_with(folder, 1);
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 60'001);
  EXPECT_EQ(rows, rows_with(folder, 7));
  EXPECT_EQ(rows, rows_with(folder, 400));
}

TEST(CompletionsCsv, AFullDiskIsToldAtTheEndAndLeavesNothing) {
  const Folder folder;
  const support::FileSizeLimit full(0);
  Recorder recorder({folder / "c.csv", 1});
  NodeRecorder& node = recorder.add_node("a");
  node.qp_created(1, "q");
  recorder.set_epoch(0);
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const Time now = static_cast<Time>(i) * kNanosecond;
    node.send_posted(1, WrOpcode::kRdmaWrite, 1, now);
    node.send_polled(1, i, WcStatus::kSuccess, now);
  }
  EXPECT_TRUE(recorder.output_failed());
  try {
    recorder.close(hw::kSecond);
    FAIL() << "no error";
  } catch (const OutputError& error) {
    EXPECT_EQ(error.what(),
              (folder / "c.csv").string() + ": cannot write: " + support::FileSizeLimit::kReason);
  }
  EXPECT_EQ(recorder.statistics().messages_completed, 20'000u);
  EXPECT_EQ(folder.files(), 0u);
}

TEST(CompletionsCsv, AFolderThatIsMissingIsToldAtOnce) {
  const Folder folder;
  EXPECT_THROW(Recorder({folder / "missing/c.csv", 1}), OutputError);
}

TEST(CompletionsCsv, WithoutCloseNothingIsLeft) {
  const Folder folder;
  { Recorder recorder({folder / "c.csv", 1}); }
  EXPECT_EQ(folder.files(), 0u);
}

}  // namespace
}  // namespace hcasim::sim::test
