// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// How runs end: well, with what is left, or not at all.
#include <gtest/gtest.h>

#include "run_lines.hpp"

namespace hcasim::test {
namespace {

using testing::HasSubstr;

const std::string kConnect = "connect a.q b.q";
const std::string kReceive = "b post_recv q length=4";
const std::string kSend = "a post_send q SEND length=4";

TEST(EndOfRun, FlushesOfTheDriverAreSeenByThePoller) {
  const RunOfLines run =
      run_lines({kConnect, "a post_recv q length=4 label=x", "a modify_qp q state=ERR at=5us",
                 "a post_send q SEND length=1 after=x"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.status_of("q", "0"), "WR_FLUSH_ERR");
}

TEST(EndOfRun, AnUnsignaledLastSendIsDone) {
  const RunOfLines run = run_lines({kConnect, kReceive, kSend + " unsignaled"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.count("messages_completed"), 1u);
  EXPECT_EQ(run.count("messages_unfinished"), 0u);
}

TEST(EndOfRun, AnUnsignaledLastSendMayFail) {
  const RunOfLines run = run_lines({kConnect, "b modify_qp q state=ERR", kSend + " unsignaled"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.status_of("q", "0"), "RETRY_EXC_ERR");
}

TEST(EndOfRun, ResultsOfAStuckRunAreKept) {
  const RunOfLines run = run_lines({"connect a.q b.q rnr_retry=0", kSend, kReceive + " after=x"});
  EXPECT_EQ(run.status, 2);  // no such label: nothing was run
  const RunOfLines stuck =
      run_lines({"connect a.q b.q rnr_retry=0", "connect a.p b.p", "b post_recv p length=4 label=x",
                 kSend, kReceive + " after=x"});
  EXPECT_EQ(stuck.status, 1);
  EXPECT_THAT(stuck.err, HasSubstr("it.trace:5: at "));
  EXPECT_THAT(stuck.err, HasSubstr("node a: post_send to q ended with RNR_RETRY_EXC_ERR; "));
  EXPECT_THAT(stuck.err, HasSubstr("line 6 of node b waits for a label"));
  ASSERT_FALSE(stuck.statistics.is_null());
  EXPECT_EQ(stuck.statistics["partial"], true);
  EXPECT_EQ(stuck.count("messages_failed"), 1u);
  EXPECT_EQ(stuck.rows.size(), 1u);
}

TEST(EndOfRun, AForgottenReceiveIsFoundSoon) {
  const RunOfLines run = run_lines({"connect a.q b.q min_rnr_timer=1", kSend});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("it.trace:3: at "));
  EXPECT_THAT(run.err, HasSubstr("is the first of 1 work requests of q that do not complete"));
  EXPECT_LT(run.statistics["counters"]["b"]["response"]["rnr_naks"].get<int>(), 500'000);
}

// Nodes are taken down in their order: the sender goes on without end meanwhile.
TEST(EndOfRun, AForgottenReceiveOfTheFirstNodeIsFoundSoon) {
  const RunOfLines run =
      run_lines({"connect a.q b.q min_rnr_timer=1", "b post_send q SEND length=4"});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("is the first of 1 work requests of q that do not complete"));
}

TEST(EndOfRun, AForgottenReceiveIsFoundSoonAfterALongWait) {
  const RunOfLines run = run_lines({kConnect, kSend + " at=3000s"});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("is the first of 1 work requests of q that do not complete"));
  EXPECT_LT(run.statistics["counters"]["b"]["response"]["rnr_naks"].get<int>(), 500'000);
}

TEST(EndOfRun, StatisticsOfAStuckRunAreOfOneSpan) {
  const RunOfLines run = run_lines({"connect a.q b.q min_rnr_timer=1", kSend});
  EXPECT_EQ(run.status, 1);
  // Each refusal takes 10 us at least, which the span must have room for.
  EXPECT_GT(run.statistics["sim_time_ns"].get<double>(),
            10e3 * run.statistics["counters"]["b"]["response"]["rnr_naks"].get<double>());
}

// What the driver waited for in vain leaves a timer behind, which is nobody's work.
TEST(EndOfRun, UnsignaledSendsBehindAControlVerbAreDone) {
  for (const std::string control : {"a reg_mr m length=64 at=1us", "b create_cq d cqe=4 at=1us"}) {
    const RunOfLines run =
        run_lines({"connect a.q b.q timeout=4", control,
                   "a post_send q RDMA_WRITE length=8 remote=mr:0 at=20us unsignaled"});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(run.count("messages_completed"), 1u);
  }
}

TEST(EndOfRun, LongMessagesOnSlowLinksAreWaitedFor) {
  for (const std::string opcode : {"RDMA_WRITE", "RDMA_READ"}) {
    const RunOfLines run = run_lines(
        {"connect a.q b.q timeout=0", "a post_send q " + opcode + " length=2000000 remote=mr"},
        "--set fabric.rate_gbps=0.1");
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(run.status_of("q", "0"), "SUCCESS");
  }
}

TEST(EndOfRun, LongRetriesAreWaitedFor) {
  const RunOfLines run = run_lines({"connect a.q b.q timeout=31", "b destroy_qp q",
                                    "a post_send q RDMA_READ length=4 remote=mr"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.status_of("q", "0"), "RETRY_EXC_ERR");
  const RunOfLines floor =
      run_lines({kConnect, "b destroy_qp q", "a post_send q RDMA_READ length=4 remote=mr"},
                "--set hca.requester.ack_timeout_floor=31");
  EXPECT_EQ(floor.status_of("q", "0"), "RETRY_EXC_ERR") << floor.err;
}

// 5000 receives of q stand before the one that everything waits for.
TEST(EndOfRun, AQueueFindsItsLinesBehindThoseOfOthers) {
  std::vector<std::string> lines = {kConnect, "connect a.p b.p"};
  lines.insert(lines.end(), 5000, kReceive);
  lines.insert(lines.end(), {"b post_recv p length=4", "a post_send p SEND length=4 label=x",
                             kSend + " after=x"});
  lines.insert(lines.end(), 4999, kSend);
  const RunOfLines run = run_lines(lines);
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.count("messages_completed"), 5001u);
  EXPECT_EQ(run.statistics["counters"]["b"]["response"]["rnr_naks"], 0);
}

// More lines of q than a node ever looks over.
TEST(EndOfRun, NodesLookFurtherAheadWhenNothingGoesOn) {
  std::vector<std::string> lines = {kConnect, "connect a.p b.p min_rnr_timer=1"};
  lines.insert(lines.end(), 70'000, kReceive);
  lines.insert(lines.end(), {"b post_recv p length=4", "a post_send p SEND length=4"});
  const RunOfLines run = run_lines(lines);
  EXPECT_EQ(run.status, 1);  // nobody sends to q
  EXPECT_EQ(run.count("messages_completed"), 1u);
  EXPECT_THAT(run.err, HasSubstr("waits for room in its queue"));
}

TEST(EndOfRun, RefusedPostsAreNamed) {
  const RunOfLines run = run_lines({kConnect, "a post_send q SEND length=65 inline"});
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.err, HasSubstr("it.trace:3: at 0 ns, node a: post_send was refused: Invalid"));
  EXPECT_THAT(run.err, HasSubstr("1 work requests were refused"));
}

TEST(EndOfRun, TimesPastElevenDaysAreRefused) {
  for (const char* time : {"at=9223372s", "at=1000000.001s"}) {
    const RunOfLines run =
        run_lines({kConnect, "a post_send q SEND length=0 " + std::string(time)});
    EXPECT_EQ(run.status, 2);
    EXPECT_THAT(run.err, HasSubstr("it.trace:3:32: expected for at a time"));
  }
  const RunOfLines run =
      run_lines({kConnect, "a post_send q SEND length=0 at=1000000s", "b post_recv q length=0"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.posted("q", "0"), 1e15);
}

TEST(EndOfRun, AReadBreaksOffWhenItsTargetIsTakenDown) {
  for (const char* control : {"destroy_qp q", "modify_qp q state=ERR", "modify_qp q state=RESET"}) {
    const RunOfLines run = run_lines({kConnect, "b " + std::string(control) + " at=5us",
                                      "a post_send q RDMA_READ length=400000 remote=mr"});
    EXPECT_EQ(run.status_of("q", "0"), "RETRY_EXC_ERR") << control;
  }
}

// The sender gives up while the packet is in flight: its row says what had happened by then.
TEST(EndOfRun, ARowOfAFailureDoesNotDependOnRunAhead) {
  const std::vector<std::string> lines = {"node b", "node a", "connect a.q b.q timeout=1",
                                          "b post_recv q length=64",
                                          "a post_send q SEND length=64"};
  const std::string far = "--set fabric.propagation_ns=40000";
  const RunOfLines apart = run_lines(lines, far);
  const RunOfLines together = run_lines(lines, far + " --no-run-ahead");
  EXPECT_EQ(apart.status_of("q", "0"), "RETRY_EXC_ERR");
  EXPECT_EQ(apart.csv, together.csv);
  EXPECT_EQ(apart.statistics, together.statistics);
}

}  // namespace
}  // namespace hcasim::test
