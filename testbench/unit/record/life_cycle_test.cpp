// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What becomes of a message: each way in which it can end.
#include <gtest/gtest.h>

#include "pair.hpp"

namespace hcasim::sim::test {
namespace {

const OpcodeStatistics& only_opcode(const RunStatistics& statistics) {
  EXPECT_EQ(statistics.nodes.at(0).opcodes.size(), 1u);
  return statistics.nodes.at(0).opcodes.at(0);
}

TEST(LifeCycle, ASendSucceeds) {
  Pair pair;
  pair.receive_posted(0);
  const std::uint64_t message = pair.post(WrOpcode::kSend, 64, 100);
  ASSERT_NE(message, 0u);
  pair.sent(message, 100);
  pair.received(message, 500);
  pair.acknowledged(message, 700);
  pair.send_cqe(message, 800);
  pair.receive_polled(64, 600);
  pair.send_polled(0, 850);
  const RunStatistics statistics = pair.close(1000);
  EXPECT_EQ(statistics.messages_completed, 1u);
  EXPECT_EQ(statistics.messages_failed, 0u);
  EXPECT_EQ(statistics.messages_flushed, 0u);
  EXPECT_EQ(statistics.messages_unfinished, 0u);
  EXPECT_EQ(statistics.bytes_delivered, 64u);
  EXPECT_EQ(statistics.sim_time, 1000 * kNanosecond);
  EXPECT_EQ(statistics.first_post, 100 * kNanosecond);
  EXPECT_EQ(statistics.last_completion, 850 * kNanosecond);
  EXPECT_EQ(statistics.latency.count, 1u);
  EXPECT_EQ(statistics.latency.min, 750 * kNanosecond);
  EXPECT_EQ(statistics.latency.p50, 750 * kNanosecond);
  EXPECT_EQ(only_opcode(statistics).opcode, WrOpcode::kSend);
  EXPECT_EQ(statistics.nodes.at(1).receives_completed, 1u);
  EXPECT_EQ(statistics.nodes.at(1).received_bytes, 64u);
}

TEST(LifeCycle, AFailureIsCountedByItsStatusAndHasNoLatency) {
  Pair pair;
  pair.send_polled(0, 5);  // nothing was posted: not ours
  const std::uint64_t message = pair.post(WrOpcode::kRdmaWrite, 4096, 10);
  pair.sent(message, 10);
  pair.send_polled(0, 90, WcStatus::kRemAccessErr);
  const RunStatistics statistics = pair.close(100);
  EXPECT_EQ(statistics.messages_completed, 0u);
  EXPECT_EQ(statistics.messages_failed, 1u);
  EXPECT_EQ(statistics.bytes_delivered, 0u);
  EXPECT_EQ(statistics.latency.count, 0u);
  EXPECT_EQ(statistics.last_completion, 0);
  ASSERT_EQ(only_opcode(statistics).errors.size(), 1u);
  EXPECT_EQ(only_opcode(statistics).errors[0].status, WcStatus::kRemAccessErr);
  EXPECT_EQ(only_opcode(statistics).errors[0].messages, 1u);
}

TEST(LifeCycle, FlushesAreNotFailures) {
  Pair pair;
  for (int i = 0; i < 4; ++i) pair.post(WrOpcode::kSend, 8, 10);
  pair.send_polled(0, 50, WcStatus::kRnrRetryExcErr);
  for (std::uint64_t count = 1; count < 4; ++count) {
    pair.send_polled(count, 60, WcStatus::kWrFlushErr);
  }
  const RunStatistics statistics = pair.close(100);
  EXPECT_EQ(statistics.messages_failed, 1u);
  EXPECT_EQ(statistics.messages_flushed, 3u);
  EXPECT_EQ(statistics.messages_completed, 0u);
  EXPECT_EQ(statistics.messages_unfinished, 0u);
}

TEST(LifeCycle, UnsignaledMessagesSucceedWithTheNextCompletionButHaveNoLatency) {
  Pair pair;
  for (int i = 0; i < 16; ++i) pair.post(WrOpcode::kRdmaWrite, 100, 10 + i);
  pair.send_polled(15, 500);
  const RunStatistics statistics = pair.close(1000);
  EXPECT_EQ(statistics.messages_completed, 16u);
  EXPECT_EQ(statistics.bytes_delivered, 1600u);
  EXPECT_EQ(statistics.latency.count, 1u);
  EXPECT_EQ(statistics.latency.min, 475 * kNanosecond);
}

TEST(LifeCycle, UnsignaledMessagesBeforeAFailureOrAFlushSucceeded) {
  for (const WcStatus status : {WcStatus::kRetryExcErr, WcStatus::kWrFlushErr}) {
    Pair pair;
    for (int i = 0; i < 3; ++i) pair.post(WrOpcode::kRdmaWrite, 100, 10);
    pair.send_polled(2, 500, status);
    EXPECT_EQ(pair.close(1000).messages_completed, 2u);
  }
}

TEST(LifeCycle, ACompletionIsTakenOnce) {
  Pair pair;
  pair.post(WrOpcode::kSend, 1, 10);
  pair.post(WrOpcode::kSend, 1, 10);
  pair.send_polled(0, 20);
  pair.send_polled(0, 30);
  pair.send_polled(7, 30);
  const RunStatistics statistics = pair.close(100);
  EXPECT_EQ(statistics.messages_completed, 1u);
  EXPECT_EQ(statistics.messages_unfinished, 1u);
}

TEST(LifeCycle, AtTheEndWhatIsAcknowledgedHasSucceeded) {
  Pair pair;
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t message = pair.post(WrOpcode::kRdmaWrite, 10, 10);
    if (i == 0) pair.acknowledged(message, 300);
    if (i == 1) pair.acknowledged(message, 401);  // after the end: a node has run ahead
  }
  const RunStatistics statistics = pair.close(400);
  EXPECT_EQ(statistics.messages_completed, 1u);
  EXPECT_EQ(statistics.messages_unfinished, 2u);
  EXPECT_EQ(statistics.last_completion, 300 * kNanosecond);
  EXPECT_EQ(statistics.latency.count, 0u);
}

TEST(LifeCycle, AtomicsDeliverEightBytes) {
  Pair pair;
  pair.post(WrOpcode::kAtomicFetchAndAdd, 0, 10);
  pair.post(WrOpcode::kAtomicCmpAndSwp, 8, 10);
  pair.send_polled(1, 20);
  EXPECT_EQ(pair.close(30).bytes_delivered, 16u);
}

TEST(LifeCycle, LocalOperationsAreNoMessagesButHoldTheirPlace) {
  Pair pair;
  EXPECT_EQ(pair.post(WrOpcode::kRegMr, 0, 10), 0u);
  const std::uint64_t message = pair.post(WrOpcode::kSend, 1, 10);
  EXPECT_EQ(pair.post(WrOpcode::kLocalInv, 0, 10), 0u);
  EXPECT_NE(message, 0u);
  EXPECT_EQ(pair.a.message_of(Pair::kQpA, 1), message);
  pair.send_polled(1, 20);
  pair.send_polled(2, 20, WcStatus::kLocQpOpErr);
  const RunStatistics statistics = pair.close(30);
  EXPECT_EQ(statistics.messages_completed, 1u);
  EXPECT_EQ(statistics.messages_failed, 0u);
  EXPECT_EQ(statistics.nodes.at(0).local_operations, 1u);
  EXPECT_EQ(statistics.nodes.at(0).local_operations_ended, 1u);
}

TEST(LifeCycle, NothingBeforeTheEpochIsRecorded) {
  Recorder recorder(RecorderOptions{});
  NodeRecorder& node = recorder.add_node("a");
  node.qp_created(1, "q");
  node.send_posted(1, WrOpcode::kSend, 1, 10);
  recorder.set_epoch(100);
  node.send_posted(1, WrOpcode::kSend, 1, 99);
  EXPECT_EQ(node.message_of(1, 0), 0u);
  EXPECT_EQ(node.message_of(1, 1), 0u);
  node.send_posted(1, WrOpcode::kSend, 1, 100);
  EXPECT_NE(node.message_of(1, 2), 0u);
  node.send_polled(1, 2, WcStatus::kSuccess, 200);
  recorder.close(300);
  EXPECT_EQ(recorder.statistics().messages_completed, 1u);
  EXPECT_EQ(recorder.statistics().latency.max, 100);
  EXPECT_EQ(recorder.statistics().sim_time, 200);
}

TEST(LifeCycle, MessagesAreKnownFromPostingToCompletion) {
  Pair pair;
  const std::uint64_t first = pair.post(WrOpcode::kRdmaRead, 1, 10);
  const std::uint64_t second = pair.post(WrOpcode::kRdmaRead, 1, 10);
  EXPECT_NE(first, second);
  EXPECT_EQ(pair.a.message_of(Pair::kQpA, 0), first);
  EXPECT_EQ(pair.a.message_of(Pair::kQpA, 2), 0u);
  EXPECT_EQ(pair.a.message_of(Pair::kQpB, 0), 0u);
  EXPECT_EQ(pair.a.message_of(0xffffff, 0), 0u);
  pair.send_polled(0, 20);
  EXPECT_EQ(pair.a.message_of(Pair::kQpA, 0), 0u);
  EXPECT_EQ(pair.a.message_of(Pair::kQpA, 1), second);
}

TEST(LifeCycle, ANewLifeOfAQpCountsFromZero) {
  Pair pair;
  pair.post(WrOpcode::kSend, 1, 10);
  pair.post(WrOpcode::kSend, 1, 10);
  pair.a.qp_closed(Pair::kQpA, Pair::at(20));
  pair.a.qp_created(Pair::kQpA, "again");
  EXPECT_EQ(pair.a.message_of(Pair::kQpA, 0), 0u);
  pair.a.send_posted(Pair::kQpA, WrOpcode::kSend, 1, Pair::at(30));
  EXPECT_NE(pair.a.message_of(Pair::kQpA, 0), 0u);
  pair.send_polled(0, 40);
  const RunStatistics statistics = pair.close(50);
  EXPECT_EQ(statistics.messages_completed, 1u);
  EXPECT_EQ(statistics.messages_unfinished, 2u);
}

TEST(LifeCycle, ReceivesAreCountedByTheirEnd) {
  Pair pair;
  for (int i = 0; i < 4; ++i) {
    pair.receive_posted(10);
    pair.b.receive_completed(Pair::kQpB, 0);
  }
  pair.receive_polled(100, 20);
  pair.receive_polled(0, 20, WcStatus::kLocLenErr);
  pair.receive_polled(0, 20, WcStatus::kWrFlushErr);
  pair.receive_polled(0, 20, WcStatus::kWrFlushErr);
  const NodeStatistics node = pair.close(100).nodes.at(1);
  EXPECT_EQ(node.receives_completed, 1u);
  EXPECT_EQ(node.receives_failed, 1u);
  EXPECT_EQ(node.receives_flushed, 2u);
  EXPECT_EQ(node.received_bytes, 100u);
}

TEST(LifeCycle, QueuesFillFromPostingToPolling) {
  Pair pair;
  pair.receive_posted(0);
  pair.receive_posted(0);
  const std::uint64_t message = pair.post(WrOpcode::kSend, 64, 100);
  pair.received(message, 500);  // CQE visible at 530
  pair.receive_polled(64, 630);
  pair.send_cqe(message, 700);
  pair.send_polled(0, 900);
  const auto occupancy = pair.close(1000).occupancy;
  ASSERT_EQ(occupancy.size(), 6u);
  EXPECT_EQ(occupancy[0].node, "a");
  EXPECT_EQ(occupancy[1].queue, QueueKind::kSend);
  EXPECT_EQ(occupancy[1].mean_thousandths, 800u);
  EXPECT_EQ(occupancy[1].empty_millionths, 200'000u);
  EXPECT_EQ(occupancy[2].queue, QueueKind::kCompletion);
  EXPECT_EQ(occupancy[2].mean_thousandths, 200u);
  EXPECT_EQ(occupancy[3].node, "b");
  EXPECT_EQ(occupancy[3].queue, QueueKind::kReceive);
  EXPECT_EQ(occupancy[3].mean_thousandths, 1630u);
  EXPECT_EQ(occupancy[3].max, 2u);
  EXPECT_EQ(occupancy[5].mean_thousandths, 100u);
}

TEST(LifeCycle, AClosedQpLeavesNothingInQueues) {
  Pair pair;
  pair.b.receive_posted(Pair::kQpB, Pair::at(0));
  pair.b.receive_posted(Pair::kQpB, Pair::at(0));
  const std::uint64_t message = pair.post(WrOpcode::kSend, 64, 0);
  pair.received(message, 70);
  pair.send_cqe(message, 100);
  pair.a.qp_closed(Pair::kQpA, Pair::at(500));
  pair.b.qp_closed(Pair::kQpB, Pair::at(500));
  const auto occupancy = pair.close(1000).occupancy;
  EXPECT_EQ(occupancy[1].mean_thousandths, 500u);
  EXPECT_EQ(occupancy[2].mean_thousandths, 400u);
  EXPECT_EQ(occupancy[3].mean_thousandths, 1000u);
  EXPECT_EQ(occupancy[5].mean_thousandths, 400u);
}

TEST(LifeCycle, AStampOfAMessageThatIsGoneChangesNoOther) {
  Pair pair;
  const std::uint64_t gone = pair.post(WrOpcode::kSend, 1, 10);
  pair.send_polled(0, 20, WcStatus::kRetryExcErr);
  const std::uint64_t next = pair.post(WrOpcode::kRdmaWrite, 1, 30);
  ASSERT_NE(gone, next);
  pair.acknowledged(gone, 40);  // a late report, while the slot serves the next message
  EXPECT_EQ(pair.close(50).messages_unfinished, 1u);
}

}  // namespace
}  // namespace hcasim::sim::test
