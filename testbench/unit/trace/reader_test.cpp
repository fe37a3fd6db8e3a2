// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What each verb and argument becomes in an Operation.
#include <gtest/gtest.h>

#include "trace_text.hpp"

namespace hcasim::sim {
namespace {

using test::parse;
using test::Parsed;

constexpr const char* kPair = "hcasim-trace 1\nconnect a.q b.q\n";

// The last operation of `lines` behind a connection of a.q and b.q.
Operation last(const std::string& lines) {
  return parse(kPair + lines).operations.back();
}

TEST(TraceReader, PingPongInSixLines) {
  const Parsed trace = parse(
      "hcasim-trace 1\n"
      "connect a.q b.q\n"
      "b post_recv q length=64 label=ping\n"
      "a post_recv q length=64\n"
      "a post_send q SEND length=64\n"
      "b post_send q SEND length=64 after=ping\n");
  ASSERT_EQ(trace.operations.size(), 5U);
  EXPECT_EQ(trace.nodes, (std::vector<std::string>{"a", "b"}));
  const Operation& pong = trace.operations.back();
  EXPECT_EQ(pong.timing, Timing::kAfter);
  EXPECT_EQ(trace.name(pong.after), "ping");
  EXPECT_EQ(pong.time, 0);
  EXPECT_EQ(pong.line, 6U);
  EXPECT_EQ(trace.name(pong.node), "b");
  EXPECT_EQ(pong.length(), 64U);
  EXPECT_EQ(trace.name(trace.operations[1].label), "ping");
}

TEST(TraceReader, HeadIsKnownBeforeTheFirstOperation) {
  test::Stream trace(
      "hcasim-trace 1\n"
      "# a comment\n"
      "assume receive_depth = 16  # --depth overrides\n"
      "assume sges = one\n"
      "node z\n"
      "connect a.q b.q\n"
      "connect a.q2 z.q\n"
      "z post_recv q length=1\n");
  EXPECT_EQ(trace.node_names(), (std::vector<std::string>{"z", "a", "b"}));
  EXPECT_EQ(
      trace.reader().assumptions(),
      (std::vector<Assumption>{{"receive_depth", "16  # --depth overrides"}, {"sges", "one"}}));
  Operation operation;
  ASSERT_TRUE(trace.reader().next(operation));
  EXPECT_EQ(operation.verb, Verb::kConnect);
  EXPECT_EQ(operation.line, 6U);
  ASSERT_TRUE(trace.reader().next(operation));
  ASSERT_TRUE(trace.reader().next(operation));
  EXPECT_EQ(operation.verb, Verb::kPostRecv);
  EXPECT_FALSE(trace.reader().next(operation));
  EXPECT_FALSE(trace.reader().next(operation));
}

TEST(TraceReader, ConnectTakesItsAttributes) {
  const Operation it = parse(
                           "hcasim-trace 1\n"
                           "connect a.q b.q type=RC mtu=4096 psn=1,0xffffff max_send_wr=3 "
                           "max_recv_wr=4 max_send_sge=5 max_recv_sge=6 max_inline_data=7 "
                           "timeout=8 retry_cnt=1 rnr_retry=2 min_rnr_timer=9 max_rd_atomic=10 "
                           "access=remote_write,remote_read sq_sig_all=1 cqe=77 mr_length=4097\n")
                           .operations.back();
  EXPECT_EQ(it.value(Arg::kType), 2U);
  EXPECT_EQ(it.value(Arg::kMtu), 4096U);
  EXPECT_EQ(it.value(Arg::kPsn), 1U);
  EXPECT_EQ(it.value(Arg::kPsnPeer), 0xffffffU);
  EXPECT_EQ(it.value(Arg::kMaxSendWr), 3U);
  EXPECT_EQ(it.value(Arg::kMaxRecvWr), 4U);
  EXPECT_EQ(it.value(Arg::kMaxSendSge), 5U);
  EXPECT_EQ(it.value(Arg::kMaxRecvSge), 6U);
  EXPECT_EQ(it.value(Arg::kMaxInlineData), 7U);
  EXPECT_EQ(it.value(Arg::kTimeout), 8U);
  EXPECT_EQ(it.value(Arg::kRetryCnt), 1U);
  EXPECT_EQ(it.value(Arg::kRnrRetry), 2U);
  EXPECT_EQ(it.value(Arg::kMinRnrTimer), 9U);
  EXPECT_EQ(it.value(Arg::kMaxRdAtomic), 10U);
  EXPECT_EQ(it.value(Arg::kAccess), std::uint64_t{kRemoteWrite | kRemoteRead});
  EXPECT_EQ(it.value(Arg::kSqSigAll), 1U);
  EXPECT_EQ(it.value(Arg::kCqe), 77U);
  EXPECT_EQ(it.value(Arg::kMrLength), 4097U);
}

TEST(TraceReader, AbsentArgumentsHaveTheValuesOfTheTable) {
  const Operation it = parse(kPair).operations.back();
  EXPECT_FALSE(it.has(Arg::kMtu));
  EXPECT_EQ(it.value(Arg::kMtu), 1024U);
  EXPECT_EQ(it.value(Arg::kAccess), std::uint64_t{kAllAccess});
  EXPECT_EQ(it.value(Arg::kRnrRetry), 7U);
  EXPECT_EQ(it.value(Arg::kType), static_cast<std::uint64_t>(ServiceType::kRc));
}

TEST(TraceReader, ControlVerbs) {
  const Parsed trace = parse(
      "hcasim-trace 1\nnode a\nnode b\n"
      "a reg_mr m length=4096 access=none iova=0x7f00\n"
      "a create_cq c cqe=12 comp_vector=3\n"
      "b create_cq c\n"
      "b create_qp q send_cq=c recv_cq=c\n"
      "a create_qp q send_cq=c recv_cq=c type=RC max_send_wr=9 sq_sig_all=1\n"
      "a modify_qp q state=INIT pkey_index=1 port_num=1 qp_access_flags=remote_atomic\n"
      "a modify_qp q state=RTR path_mtu=256 dest=b.q rq_psn=5 max_dest_rd_atomic=4 qkey=0x1\n"
      "a modify_qp q state=RTS cur_state=RTR sq_psn=6 timeout=0\n"
      "a req_notify_cq c solicited missed_events\n"
      "a alloc_mr f length=64\n"
      "a post_send q REG_MR mr=f length=32 access=remote_read iova=0x10\n"
      "a post_send q LOCAL_INV invalidate=f\n"
      "a destroy_qp q at=3ms\n"
      "a destroy_cq c\n"
      "a dereg_mr m\n");
  const auto& op = trace.operations;
  ASSERT_EQ(op.size(), 15U);
  EXPECT_EQ(op[0].value(Arg::kLength), 4096U);
  EXPECT_TRUE(op[0].has(Arg::kAccess));
  EXPECT_EQ(op[0].value(Arg::kAccess), 0U);
  EXPECT_EQ(op[0].value(Arg::kIova), 0x7f00U);
  EXPECT_EQ(op[1].value(Arg::kCqe), 12U);
  EXPECT_EQ(op[1].value(Arg::kVector), 3U);
  EXPECT_EQ(trace.name(op[4].value(Arg::kSendCq)), "c");
  EXPECT_EQ(op[5].value(Arg::kState), static_cast<std::uint64_t>(QpState::kInit));
  EXPECT_EQ(op[5].value(Arg::kAccess), std::uint64_t{kRemoteAtomic});
  EXPECT_EQ(op[6].value(Arg::kMtu), 256U);
  EXPECT_EQ(trace.name(op[6].value(Arg::kDest) >> 32), "b");
  EXPECT_EQ(trace.name(op[6].value(Arg::kDest) & 0xffffffff), "q");
  EXPECT_EQ(op[7].value(Arg::kCurState), static_cast<std::uint64_t>(QpState::kRtr));
  EXPECT_TRUE(op[7].has(Arg::kTimeout));
  EXPECT_EQ(op[8].flags, std::uint32_t{kSolicited | kMissedEvents});
  EXPECT_EQ(op[10].opcode, SendOpcode::kRegMr);
  EXPECT_EQ(op[10].value(Arg::kLength), 32U);
  EXPECT_TRUE(op[10].sges().empty());
  EXPECT_EQ(op[11].opcode, SendOpcode::kLocalInv);
  EXPECT_EQ(op[12].time, 3 * hw::kMillisecond);
}

TEST(TraceReader, NodesShareAHost) {
  const Parsed trace = parse(
      "hcasim-trace 1\nnode a\nnode b host=a # in a slot of its own\nnode c host=a\nnode d\n"
      "connect a.q d.q mr_length=4096\n"
      "b reg_mr m length=4095 memory=a.mr:1\n"
      "c reg_mr m memory=b.m length=4095\n"
      "c reg_mr again length=5 memory=c.m:4090\n");
  const std::vector<NameId>& nodes = trace.stream->reader().nodes();
  EXPECT_EQ(trace.stream->reader().hosts(),
            (std::vector<NameId>{nodes[0], nodes[0], nodes[0], nodes[3]}));
  const auto& op = trace.operations;
  ASSERT_EQ(op.size(), 4U);
  EXPECT_EQ(op[1].value(Arg::kMemory) >> 32, nodes[0]);
  EXPECT_EQ(trace.name(op[1].value(Arg::kMemory) & 0xffffffff), "mr");
  EXPECT_EQ(op[1].value(Arg::kMemoryOffset), 1U);
  EXPECT_TRUE(op[2].has(Arg::kMemoryOffset));
  EXPECT_EQ(op[3].value(Arg::kMemoryOffset), 4090U);
  EXPECT_FALSE(op[0].has(Arg::kMemory));
}

TEST(TraceReader, SendsOfEveryOpcode) {
  EXPECT_EQ(last("a post_send q SEND length=1").opcode, SendOpcode::kSend);
  EXPECT_EQ(last("a post_send q SEND_WITH_IMM length=1 imm=0xabcd").value(Arg::kImm), 0xabcdU);
  EXPECT_EQ(last("a post_send q SEND_WITH_INV length=1 invalidate=mr").opcode,
            SendOpcode::kSendWithInv);
  EXPECT_EQ(last("a post_send q SEND_WITH_INV length=1 rkey=7").value(Arg::kRkey), 7U);
  const Operation write = last("a post_send q RDMA_WRITE length=9 remote=mr:100 rkey=0x12");
  EXPECT_EQ(write.value(Arg::kRemoteOffset), 100U);
  EXPECT_EQ(write.value(Arg::kRkey), 0x12U);
  const Operation raw = last("a post_send q RDMA_READ length=9 remote_addr=0x1000 rkey=1");
  EXPECT_FALSE(raw.has(Arg::kRemoteMr));
  EXPECT_EQ(raw.value(Arg::kRemoteAddr), 0x1000U);
  EXPECT_TRUE(
      last("a post_send q RDMA_WRITE_WITH_IMM length=1 remote=mr imm=1").has(Arg::kRemoteOffset));
  const Operation swap = last(
      "a post_send q ATOMIC_CMP_AND_SWP length=8 remote=mr:8 compare=1 "
      "swap=0xffffffffffffffff");
  EXPECT_EQ(swap.value(Arg::kCompare), 1U);
  EXPECT_EQ(swap.value(Arg::kSwap), ~std::uint64_t{0});
  EXPECT_EQ(last("a post_send q ATOMIC_FETCH_AND_ADD length=8 remote=mr add=3").value(Arg::kAdd),
            3U);
}

TEST(TraceReader, FlagsAndIdentifiers) {
  const Operation it =
      last("a post_send q SEND length=8 more unsignaled fence solicited inline wr_id=99 label=x");
  EXPECT_EQ(it.flags, std::uint32_t{kMore | kUnsignaled | kFence | kSolicited | kInline});
  EXPECT_EQ(it.value(Arg::kWrId), 99U);
  EXPECT_NE(it.label, kNoName);
}

TEST(TraceReader, BuffersInPieces) {
  const Operation it = last("a post_send q SEND sge=mr:0:10,mr:0x100:0,mr:30:2147483648");
  ASSERT_EQ(it.sges().size(), 3U);
  EXPECT_EQ(it.sges()[1].offset, 0x100U);
  EXPECT_EQ(it.sges()[2].length, std::uint32_t{1} << 31);
  EXPECT_EQ(it.length(), 10U + (std::uint64_t{1} << 31));
  EXPECT_TRUE(last("b post_recv q length=0").sges().empty());
}

TEST(TraceReader, TimesAreWholePicoseconds) {
  const auto at = [](const std::string& text) {
    return last("a post_send q SEND length=1 at=" + text).time;
  };
  EXPECT_EQ(at("12.5us"), 12'500'000);
  EXPECT_EQ(at("0.001ns"), 1);
  EXPECT_EQ(at("7ns"), 7'000);
  EXPECT_EQ(at("2ms"), 2'000'000'000);
  EXPECT_EQ(at("1.000000000001s"), 1'000'000'000'001);
  EXPECT_EQ(last("a post_send q SEND length=1 at=0ns").timing, Timing::kAt);
  const Operation later =
      last("a post_send q SEND length=1 label=l\na post_send q SEND length=1 after=l+1.5ns");
  EXPECT_EQ(later.timing, Timing::kAfter);
  EXPECT_EQ(later.time, 1'500);
}

TEST(TraceReader, NamesComeBackAfterDestruction) {
  const Parsed trace = parse(std::string(kPair) +
                             "a reg_mr m length=1\na dereg_mr m\na reg_mr m length=2\n"
                             "b dereg_mr mr\na post_send q RDMA_WRITE length=1 remote=mr:0\n");
  EXPECT_EQ(trace.operations[3].value(Arg::kLength), 2U);
}

TEST(TraceReader, LineEndsCommentsAndBlanks) {
  const Parsed trace = parse(
      "hcasim-trace 1\r\n\r\n  # indented comment\r\n\tconnect\ta.q  b.q   # and behind\r\n"
      "a post_recv q length=5\r\n\n   \na post_recv q length=6 #x\nb post_recv q length=7");
  ASSERT_EQ(trace.operations.size(), 4U);
  EXPECT_EQ(trace.operations[1].length(), 5U);
  EXPECT_EQ(trace.operations[3].length(), 7U);
}

TEST(TraceReader, ConnectionOfOneNodeWithItself) {
  const Parsed trace = parse("hcasim-trace 1\nconnect a.x a.y\na post_recv y length=1\n");
  EXPECT_EQ(trace.nodes.size(), 1U);
}

TEST(TraceReader, ConnectUsesTheCqAndMrThatAreThere) {
  const Parsed trace = parse(
      "hcasim-trace 1\nnode a\nnode b\na reg_mr mr length=100\na create_cq cq cqe=5\n"
      "connect a.q b.q\na post_send q SEND length=100\n");
  EXPECT_EQ(trace.operations.size(), 4U);
}

}  // namespace
}  // namespace hcasim::sim
