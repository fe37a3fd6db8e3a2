// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Writing and reading are each other's inverse, for anything the grammar can say.
#include <gtest/gtest.h>

#include <set>

#include "random_trace.hpp"
#include "trace_text.hpp"

namespace hcasim::sim {
namespace {

TEST(TraceRoundTrip, RandomOperationsComeBack) {
  std::set<std::string> verbs;
  std::set<SendOpcode> opcodes;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    test::RandomTrace source(seed);
    std::string text = "hcasim-trace 1\nnode a\nnode b\n";
    std::vector<std::string> lines;
    for (int i = 0; i < 40; ++i) {
      const Operation operation = source.next();
      lines.emplace_back();
      append_operation(lines.back(), operation, source.names());
      text += lines.back() + '\n';
      verbs.insert(std::string(trace::verb_row(operation.verb).name));
      if (operation.verb == Verb::kPostSend) opcodes.insert(operation.opcode);
    }
    SCOPED_TRACE("seed " + std::to_string(seed));
    ASSERT_EQ(test::canonical(text), text);
  }
  EXPECT_EQ(verbs.size(), trace::verb_rows().size());
  EXPECT_EQ(opcodes.size(), trace::opcode_rows().size());
}

TEST(TraceRoundTrip, OperationsAreTheSame) {
  test::RandomTrace source(7);
  std::string text = "hcasim-trace 1\nnode a\nnode b\n";
  for (int i = 0; i < 500; ++i) {
    append_operation(text, source.next(), source.names());
    text += '\n';
  }
  const test::Parsed first = test::parse(text);
  const test::Parsed second = test::parse(test::canonical(text));
  ASSERT_EQ(first.operations.size(), second.operations.size());
  for (std::size_t i = 0; i < first.operations.size(); ++i) {
    ASSERT_TRUE(first.operations[i].same_as(second.operations[i])) << i;
    if (i == 0) continue;
    ASSERT_FALSE(first.operations[i].same_as(first.operations[i - 1])) << i;
  }
}

TEST(TraceRoundTrip, OneSpellingForEachMeaning) {
  const std::string loose =
      "hcasim-trace 1\n"
      "connect   a.q b.q mtu=0x400 # usual\n"
      "a post_recv q label=x sge=mr:0x0:0x40 at=0.0125us\n"
      "a post_send q RDMA_WRITE fence unsignaled remote=mr rkey=18 sge=mr:1:2,mr:0:4\n"
      "a post_send q SEND at=0s length=0\n"
      "a reg_mr m access=remote_read,local_write length=1\n"
      "a reg_mr n access=all length=1\n"
      "a post_recv q after=x+0ns sge=mr:0:0\n";
  EXPECT_EQ(test::canonical(loose),
            "hcasim-trace 1\nnode a\nnode b\n"
            "connect a.q b.q mtu=1024\n"
            "a post_recv q length=64 at=12.5ns label=x\n"
            "a post_send q RDMA_WRITE sge=mr:1:2,mr:0:4 remote=mr:0 rkey=0x12 unsignaled fence\n"
            "a post_send q SEND length=0 at=0ns\n"
            "a reg_mr m length=1 access=local_write,remote_read\n"
            "a reg_mr n length=1 access=all\n"
            "a post_recv q sge=mr:0:0 after=x\n");
}

}  // namespace
}  // namespace hcasim::sim
