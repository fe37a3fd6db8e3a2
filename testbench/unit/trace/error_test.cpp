// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Each kind of bad line: where it is found, what is said, what is suggested.
#include <gtest/gtest.h>

#include "trace_text.hpp"

namespace hcasim::sim {
namespace {

constexpr const char* kPair = "hcasim-trace 1\nconnect a.q b.q\n";

struct BadLine {
  const char* line;        // the third line of a trace, or with a first line of its own
  std::uint64_t column;    // where the fault is
  const char* expected;    // part of what is expected
  const char* found;       // the whole of what is found
  const char* suggestion;  // the whole suggestion
};

// One test a group and not one a line: each test is a process of its own.
void check(const BadLine& bad) {
  SCOPED_TRACE(bad.line);
  try {
    test::parse(kPair + std::string(bad.line) + "\n");
    ADD_FAILURE() << "accepted";
  } catch (const InputError& error) {
    SCOPED_TRACE(error.what());
    EXPECT_EQ(error.file(), "t");
    EXPECT_EQ(error.line(), 3U);
    EXPECT_EQ(error.column(), bad.column);
    EXPECT_NE(error.expected().find(bad.expected), std::string::npos);
    EXPECT_EQ(error.found(), bad.found);
    EXPECT_EQ(error.suggestion(), bad.suggestion);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
}

void check_all(std::initializer_list<BadLine> lines) {
  for (const BadLine& bad : lines) check(bad);
}

TEST(BadLines, Shape) {
  check_all({BadLine{"c post_recv q length=1", 1, "a node", "c", ""},
             BadLine{"conect a.r b.r", 1, "a node", "conect", "connect"},
             BadLine{"a", 2, "a verb", "", ""},
             BadLine{"a post_rcv q length=1", 3, "a verb", "post_rcv", "post_recv"},
             BadLine{"a post_recv", 12, "name of a QP", "", ""},
             BadLine{"a post_recv qq length=1", 13, "a QP of the node", "qq", "q"},
             BadLine{"a post_recv mr length=1", 13, "a QP of the node", "mr", ""},
             BadLine{"a req_notify_cq q", 17, "a CQ of the node", "q", "cq"},
             BadLine{"a post_send q", 14, "an opcode", "", ""},
             BadLine{"a post_send q SEND_WITH_IM length=1", 15, "an opcode", "SEND_WITH_IM",
                     "SEND_WITH_IMM"},
             BadLine{"a post_send q length=1", 15, "an opcode", "length=1", ""},
             BadLine{"a create_cq q", 13, "a new name, not that of a QP", "q", ""},
             BadLine{"a create_cq 1x", 13, "a name", "1x", ""},
             BadLine{"a create_cq x.y", 13, "a name", "x.y", ""},
             BadLine{"hcasim-trace 1", 1, "version line at the top", "hcasim-trace", ""},
             BadLine{"node a", 6, "a new node", "a", ""},
             BadLine{"node connect", 6, "no word of the language", "connect", ""},
             BadLine{"node switch", 6, "not that of the network switch", "switch", ""},
             BadLine{"node c d", 8, "host= or the end of the line", "d", ""},
             BadLine{"node c host=", 13, "for host a node", "", ""},
             BadLine{"node c host=c", 13, "for host a node", "c", ""},
             BadLine{"node c host=d", 13, "for host a node", "d", ""},
             BadLine{"node c hots=a", 8, "host= or the end of the line", "hots=a", ""},
             BadLine{"node c host=a host=b", 15, "end of the line", "host=b", ""},
             BadLine{"node a host=b", 6, "a new node", "a", ""},
             BadLine{"node", 5, "name of a node", "", ""},
             BadLine{"assume", 7, "KEY = VALUE", "", ""},
             BadLine{"assume x=3", 8, "a name for the assumption", "x=3", ""},
             BadLine{"assume x 3", 10, "'='", "3", ""},
             BadLine{"assume x = ", 12, "the value", "", ""}});
}

TEST(BadLines, Connect) {
  check_all({BadLine{"connect", 8, "first endpoint", "", ""},
             BadLine{"connect a.r", 12, "second endpoint", "", ""},
             BadLine{"connect a b.r", 9, "NODE.QP", "a", ""},
             BadLine{"connect switch.r b.r", 9, "not that of the network switch", "switch", ""},
             BadLine{"connect a.r a.r", 13, "another endpoint", "a.r", ""},
             BadLine{"connect a.q b.r", 11, "a new name", "q", ""},
             BadLine{"connect a.mr b.r", 11, "a new name", "mr", ""},
             BadLine{"connect c.mr b.r", 11, "default CQ or MR", "mr", ""},
             BadLine{"connect .r b.r", 9, "name of a node", "", ""},
             BadLine{"connect a.r b.r mut=256", 17, "argument of connect", "mut", "mtu"},
             BadLine{"connect a.r b.r at=1ns", 17, "argument of connect", "at", ""},
             BadLine{"connect a.r b.r type=RD", 22, "service type", "RD", "RC"},
             BadLine{"connect a.r b.r psn=1", 21, "two numbers", "1", ""},
             BadLine{"connect a.r b.r psn=1,16777216", 23, "16777215", "16777216", ""},
             BadLine{"connect a.r b.r mtu=1000", 21, "256, 512, 1024, 2048 or 4096", "1000", ""}});
}

TEST(BadLines, Arguments) {
  check_all(
      {BadLine{"a post_recv q", 14, "one of length= or sge= of post_recv", "", ""},
       BadLine{"a post_recv q legnth=4", 15, "argument of post_recv", "legnth", "length"},
       BadLine{"a post_recv q length=4 length=4", 24, "each argument once", "length", ""},
       BadLine{"a post_recv q length=4 sge=mr:0:4", 28, "one of length= and sge=", "mr:0:4", ""},
       BadLine{"a post_recv q length=0 sge=mr:0:4", 34, "one of length= or sge=", "", ""},
       BadLine{"a post_recv q length=4 fence", 24, "flag of post_recv", "fence", ""},
       BadLine{"a post_recv q length=4 mroe", 24, "flag of post_recv", "mroe", "more"},
       BadLine{"a post_recv q length=4 more more", 29, "each flag once", "more", ""},
       BadLine{"a post_recv q =4", 15, "argument of post_recv", "=4", ""},
       BadLine{"a post_send q SEND length=1 imm=2", 29, "argument of SEND", "imm", ""},
       BadLine{"a post_send q SEND_WITH_IMM length=1", 37, "imm=", "", ""},
       BadLine{"a post_send q SEND_WITH_INV length=1", 37, "invalidate= or rkey=", "", ""},
       BadLine{"a post_send q RDMA_WRITE length=1", 34, "remote= or remote_addr= and rkey=", "",
               ""},
       BadLine{"a post_send q RDMA_WRITE length=1 rkey=1", 41, "remote_addr= and rkey=", "", ""},
       BadLine{"a post_send q RDMA_READ length=1 remote=mr inline", 44, "flag of RDMA_READ",
               "inline", ""},
       BadLine{"a post_send q ATOMIC_FETCH_AND_ADD length=8 remote=mr", 54, "add=", "", ""},
       BadLine{"a create_qp x send_cq=cq", 25, "recv_cq=", "", ""},
       BadLine{"a reg_mr x", 11, "length=", "", ""}});
}

TEST(BadLines, Values) {
  check_all(
      {BadLine{"a post_recv q length=", 22, "from 0 to 2147483648", "", ""},
       BadLine{"a post_recv q length=-1", 22, "from 0 to 2147483648", "-1", ""},
       BadLine{"a post_recv q length=2147483649", 22, "2147483648", "2147483649", ""},
       BadLine{"a post_recv q length=99999999999999999999", 22, "a number", "99999999999999999999",
               ""},
       BadLine{"a post_recv q length=1 wr_id=1x", 30, "number of 64 bits", "1x", ""},
       BadLine{"a post_recv q sge=mr:0", 19, "MR:OFFSET:LENGTH", "mr:0", ""},
       BadLine{"a post_recv q sge=mr:0:1,", 19, "MR:OFFSET:LENGTH", "mr:0:1,", ""},
       BadLine{"a post_recv q sge=mr:0:1,nr:0:2", 26, "MR of node 'a'", "nr", "mr"},
       BadLine{"a post_recv q sge=mr:0:4294967296", 19, "MR:OFFSET", "mr:0:4294967296", ""},
       BadLine{"a post_send q SEND_WITH_IMM length=1 imm=0x100000000", 42, "32 bits", "0x100000000",
               ""},
       BadLine{"a post_send q RDMA_READ length=1 remote=m:0", 41, "MR of node 'b'", "m", "mr"},
       BadLine{"a post_send q RDMA_READ length=1 remote=mr:x", 41, "MR:OFFSET", "mr:x", ""},
       BadLine{"a post_send q SEND_WITH_INV length=1 invalidate=x", 49, "MR of node 'b'", "x", ""},
       BadLine{"a modify_qp q state=RTZ", 21, "QP state", "RTZ", "RTR"},
       BadLine{"a modify_qp q dest=b", 20, "NODE.QP", "b", ""},
       BadLine{"a modify_qp q dest=c.q", 20, "a node", "c", ""},
       BadLine{"a modify_qp q dest=b.r", 22, "QP of node 'b'", "r", ""},
       BadLine{"a modify_qp q timeout=32", 23, "from 0 to 31", "32", ""},
       BadLine{"a modify_qp q sq_psn=0x1000000", 22, "16777215", "0x1000000", ""},
       BadLine{"a modify_qp q port_num=0", 24, "from 1 to 255", "0", ""},
       BadLine{"a modify_qp q path_mtu=8192", 24, "4096", "8192", ""},
       BadLine{"a modify_qp q qp_access_flags=remote_wirte", 31, "rights", "remote_wirte",
               "remote_write"},
       BadLine{"a reg_mr x length=1 access=local_write,", 28, "rights", "local_write,", ""},
       BadLine{"a reg_mr x length=1 access=local_write,,remote_read", 40, "rights", "", ""},
       BadLine{"a reg_mr x length=1 access=none,local_write", 28, "rights", "none", ""},
       BadLine{"a reg_mr x length=1 access=local_write,all", 40, "rights", "all", ""},
       BadLine{"a reg_mr x length=1 access=", 28, "rights", "", ""},
       BadLine{"a create_qp x send_cq=cp recv_cq=cq", 23, "CQ of node 'a'", "cp", "cq"}});
}

TEST(BadLines, Times) {
  check_all(
      {BadLine{"a post_recv q length=1 at=5", 27, "a time", "5", ""},
       BadLine{"a post_recv q length=1 at=5min", 27, "a time", "5min", ""},
       BadLine{"a post_recv q length=1 at=1.2345ns", 27, "whole picoseconds", "1.2345ns", ""},
       BadLine{"a post_recv q length=1 at=1.ns", 27, "a time", "1.ns", ""},
       BadLine{"a post_recv q length=1 at=.5ns", 27, "a time", ".5ns", ""},
       BadLine{"a post_recv q length=1 at=-5ns", 27, "a time", "-5ns", ""},
       BadLine{"a post_recv q length=1 at=1.2.3us", 27, "a time", "1.2.3us", ""},
       BadLine{"a post_recv q length=1 at=9300000s", 27, "a time", "9300000s", ""},
       BadLine{"a post_recv q length=1 at=1000000.1s", 27, "1000000s at most", "1000000.1s", ""},
       BadLine{"a post_recv q length=1 at=1ns after=x", 37, "one of at= and after=", "x", ""},
       BadLine{"a post_recv q length=1 after=x", 30, "label of an earlier", "x", ""},
       BadLine{"a post_recv q length=1 label=x after=x", 38, "label of an earlier", "x", ""},
       BadLine{"a post_recv q length=1 label=1", 30, "a name", "1", ""},
       BadLine{"a post_recv q length=1 after=x+5", 30, "LABEL+TIME", "x+5", ""}});
}

void expect_error(const std::string& text, std::uint64_t line, std::uint64_t column,
                  const std::string& expected) {
  try {
    test::parse(text);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    SCOPED_TRACE(error.what());
    EXPECT_EQ(error.line(), line);
    EXPECT_EQ(error.column(), column);
    EXPECT_NE(error.expected().find(expected), std::string::npos);
  }
}

TEST(TraceErrors, VersionLineIsFirstAndKnown) {
  expect_error("", 1, 1, "a trace");
  expect_error("\n", 1, 1, "hcasim-trace 1");
  expect_error("# x\nhcasim-trace 1\n", 1, 1, "hcasim-trace 1");
  expect_error("hcasim-trace 2\n", 1, 1, "hcasim-trace 1");
  expect_error("\xef\xbb\xbfhcasim-trace 1\n", 1, 1, "hcasim-trace 1");
  EXPECT_TRUE(test::parse("hcasim-trace 1 \t\r\n").operations.empty());
  EXPECT_TRUE(test::parse("hcasim-trace 1").operations.empty());
}

TEST(TraceErrors, HeadEndsAtTheFirstOperationOfANode) {
  const std::string body = std::string(kPair) + "a post_recv q length=1\n";
  expect_error(body + "node c\n", 4, 1, "before the first operation");
  expect_error(body + "assume x = 1\n", 4, 1, "before the first operation");
  expect_error(body + "connect a.r c.r\n", 4, 13, "a node");
  EXPECT_EQ(test::parse(body + "connect a.r b.r\n").operations.size(), 3U);
}

TEST(TraceErrors, HostIsThatOfANodeWithItsOwn) {
  const std::string head = "hcasim-trace 1\nnode first\nnode second host=first\n";
  expect_error(head + "node third host=second\n", 4, 17, "has a host of its own");
  expect_error(head + "node third host=fourth\nnode fourth\n", 4, 17, "named before");
  try {
    test::parse(head + "node third host=firts\n");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.suggestion(), "first");
  }
}

TEST(TraceErrors, MemoryIsThatOfTheSameHostAndLargeEnough) {
  const std::string head =
      "hcasim-trace 1\nnode a\nnode b host=a\nnode c\n"
      "connect a.q c.q mr_length=100\na reg_mr m length=64\n";
  const auto refused = [&](const std::string& line, std::uint64_t column, const char* expected) {
    SCOPED_TRACE(line);
    expect_error(head + line + "\n", 7, column, expected);
  };
  refused("b reg_mr x length=64 memory=c.mr", 29, "a node in the host of 'b'");
  refused("c reg_mr x length=64 memory=a.m", 29, "a node in the host of 'c'");
  refused("b reg_mr x length=64 memory=d.m", 29, "a node that was named before");
  refused("b reg_mr x length=64 memory=a.n", 31, "MR of node 'a'");
  refused("b reg_mr x length=64 memory=a.q", 31, "MR of node 'a'");
  refused("b reg_mr x length=64 memory=m", 29, "NODE.MR");
  refused("b reg_mr x length=64 memory=a.m:x", 29, "NODE.MR:OFFSET");
  refused("b reg_mr x length=65 memory=a.m", 29,
          "an MR with 65 bytes from byte 0 on, not one of 64");
  refused("b reg_mr x memory=a.m:1 length=64", 19, "64 bytes from byte 1 on, not one of 64");
  refused("b reg_mr x memory=a.m:65 length=0", 19, "0 bytes from byte 65 on");
  refused("b reg_mr x memory=a.m:0xffffffffffffffff length=2", 19, "2 bytes from byte");
  refused("b reg_mr x length=101 memory=a.mr", 30, "not one of 100");
  refused("b alloc_mr x length=64 memory=a.m", 24, "argument of alloc_mr");
  expect_error(head + "a dereg_mr m\nb reg_mr x length=1 memory=a.m\n", 8, 30, "MR of node 'a'");
}

TEST(TraceErrors, LabelsBelongToTheirNode) {
  expect_error(std::string(kPair) +
                   "a post_recv q length=1 label=first\nb post_recv q length=1 after=first\n",
               4, 30, "label of an earlier");
  try {
    test::parse(std::string(kPair) +
                "a post_recv q length=1 label=first\na post_recv q length=1 after=frist\n");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "t:4:30: expected the label of an earlier operation of the node, found 'frist'; "
                 "did you mean 'first'?");
  }
}

TEST(TraceErrors, TooManyPieces) {
  std::string line = "a post_recv q sge=mr:0:1";
  for (std::size_t i = 1; i < kMaxSges; ++i) line += ",mr:0:1";
  EXPECT_EQ(test::parse(kPair + line).operations.back().sges().size(), kMaxSges);
  expect_error(kPair + line + ",mr:0:1", 3, line.size() + 2, "1 to 32");
}

TEST(TraceErrors, DestroyedObjectsAreGone) {
  expect_error(std::string(kPair) + "a destroy_qp q\na post_recv q length=1\n", 4, 13, "a QP");
  expect_error(std::string(kPair) + "a destroy_qp q\na destroy_qp q\n", 4, 14, "a QP");
}

TEST(TraceErrors, RemotePlaceNeedsAPeer) {
  expect_error(
      "hcasim-trace 1\nnode a\na create_cq c\na create_qp q send_cq=c recv_cq=c\n"
      "a reg_mr mr length=8\na post_send q RDMA_READ length=1 remote=mr:0\n",
      6, 41, "has a peer");
}

TEST(TraceErrors, DefaultBufferNeedsItsMr) {
  expect_error(
      "hcasim-trace 1\nnode a\na create_cq c\na create_qp q send_cq=c recv_cq=c\n"
      "a post_recv q length=0\na post_recv q length=1\n",
      6, 22, "an MR called 'mr'");
}

TEST(TraceErrors, DefaultNamesTakenByOtherObjects) {
  expect_error("hcasim-trace 1\nnode a\nnode b\na create_cq mr\nconnect a.q b.q\n", 5, 16,
               "the name 'mr' free");
}

TEST(TraceErrors, BytesThatAreNoText) {
  expect_error(kPair + std::string("a post_recv q\0 length=1\n", 24), 3, 14, "text");
  expect_error(kPair + std::string("# \0\n", 4), 3, 3, "text");
}

TEST(TraceErrors, LongLines) {
  const std::string longest = "#" + std::string(65535, 'x');
  EXPECT_EQ(test::parse(kPair + longest + "\nb post_recv q length=1").operations.size(), 2U);
  expect_error(kPair + longest + "x\n", 3, 65537, "at most 65536 bytes");
  expect_error(kPair + std::string(1000000, 'x'), 3, 65537, "at most 65536 bytes");
}

TEST(TraceErrors, LongNames) {
  const std::string name(63, 'n');
  EXPECT_EQ(test::parse("hcasim-trace 1\nnode " + name).nodes.front(), name);
  expect_error("hcasim-trace 1\nnode " + name + "n", 2, 6, "name of a node");
}

TEST(TraceErrors, MissingFileAndFolder) {
  try {
    TraceReader reader(std::filesystem::path("/nonexistent/x.trace"));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "/nonexistent/x.trace: expected a readable file, found 'No such file or "
                 "directory'");
  }
  EXPECT_THROW(TraceReader(std::filesystem::path("/tmp")), InputError);
}

TEST(TraceErrors, MessagesStayOnOneLine) {
  const InputError error("f", 1, 2, "x", "a\n\x1b" + std::string(100, 'y'));
  EXPECT_EQ(std::string(error.what()).substr(0, 40), "f:1:2: expected x, found 'a\\x0a\\x1byyyyy");
  EXPECT_LT(std::string(error.what()).size(), 120U);
}

}  // namespace
}  // namespace hcasim::sim
