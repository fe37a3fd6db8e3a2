// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Datagrams to a group, through a switch and a cable.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "run_lines.hpp"

namespace hcasim::test {
namespace {

using Lines = std::vector<std::string>;

const Lines kThree = {"connect a.q b.q type=UD", "connect a.r c.q type=UD"};
const char* const kToGroup = "a modify_qp q dest_group=ff0e::1";
const char* const kSend = "a post_send q SEND length=64 at=50us";

RunOfLines run_with(Lines lines, const Lines& more, const std::string& options = {}) {
  lines.insert(lines.end(), more.begin(), more.end());
  return run_lines(lines, options);
}

std::uint64_t taken(const RunOfLines& run, const char* node) {
  return run.statistics["counters"][node]["receive_queue"]["takes_ok"].get<std::uint64_t>();
}

TEST(Multicast, ReachesAllMembersThroughASwitch) {
  const Lines lines = {"b attach_mcast q gid=ff0e::1", "c attach_mcast q gid=ff0e:0::1",
                       "a attach_mcast r gid=ff0e::1", kToGroup,
                       "a post_recv r length=104",     "b post_recv q length=104",
                       "c post_recv q length=104",     kSend};
  const RunOfLines run = run_with(kThree, lines);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.count("messages_completed"), 1u);
  for (const char* node : {"a", "b", "c"}) EXPECT_EQ(taken(run, node), 1u) << node;
  EXPECT_EQ(run.csv, run_with(kThree, lines, "--no-run-ahead").csv);
}

TEST(Multicast, ReachesNobodyElse) {
  const RunOfLines run = run_with(
      kThree, {"b attach_mcast q gid=ff0e::1", "c attach_mcast q gid=ff0e::2",
               "c detach_mcast q gid=ff0e::2", kToGroup, "b post_recv q length=104", kSend});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(taken(run, "b"), 1u);
  EXPECT_EQ(taken(run, "c"), 0u);
  EXPECT_EQ(run.statistics["counters"]["c"]["responder"]["n_pkt_drops"], 1);
}

TEST(Multicast, NeedsNoSwitch) {
  const RunOfLines run = run_lines({"connect a.q b.q type=UD", "b attach_mcast q gid=ff0e::1",
                                    kToGroup, "b post_recv q length=104", kSend});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(taken(run, "b"), 1u);
}

TEST(Multicast, RefusalsAreThoseOfTheVerbs) {
  for (const char* line : {"a detach_mcast q gid=ff0e::1", "a attach_mcast rc gid=ff0e::1",
                           "a modify_qp rc dest_group=ff0e::1"}) {
    const RunOfLines run = run_lines({"connect a.q b.q type=UD", "connect a.rc b.rc", line});
    EXPECT_THAT(run.err, testing::HasSubstr("was refused: Invalid argument")) << line;
  }
  const RunOfLines busy =
      run_lines({"connect a.q b.q type=UD", "a attach_mcast q gid=ff0e::1", "a destroy_qp q"});
  EXPECT_THAT(busy.err, testing::HasSubstr("destroy_qp was refused"));
  const RunOfLines unicast = run_lines({"connect a.q b.q type=UD", "a attach_mcast q gid=fe80::1"});
  EXPECT_EQ(unicast.status, 2);
  EXPECT_THAT(unicast.err,
              testing::HasSubstr("it.trace:3:22: expected for gid an IPv6 address in ff00::/8"));
}

}  // namespace
}  // namespace hcasim::test
