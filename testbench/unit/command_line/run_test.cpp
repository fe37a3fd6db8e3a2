// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// `hcasim run`: what it writes where, and what is left behind when it fails.
#include <nlohmann/json.hpp>

#include <algorithm>

#include "program.hpp"

namespace hcasim::test {
namespace {

constexpr std::string_view kPingPong =
    "hcasim-trace 1\n"
    "connect a.q b.q\n"
    "b post_recv q length=64 label=ping\n"
    "a post_recv q length=64\n"
    "a post_send q SEND length=64\n"
    "b post_send q SEND length=64 after=ping\n";

class RunCommand : public testing::Test {
 protected:
  RunCommand() { std::ofstream(trace()) << kPingPong; }

  std::string trace() const { return file("t.trace"); }
  std::string file(const std::string& name) const { return scratch_.file(name); }
  Outcome run_trace(const std::string& arguments) const {
    return hcasim("run " + trace() + " " + arguments);
  }

 private:
  const Scratch scratch_;
};

TEST_F(RunCommand, PrintsASummaryThatFitsAScreen) {
  const Outcome outcome = run_trace("");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_LE(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 24);
  EXPECT_THAT(outcome.out, testing::HasSubstr("SEND"));
}

TEST_F(RunCommand, JsonHoldsTheMainResults) {
  const Outcome outcome = run_trace("--json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json.at("messages_completed"), 2);
  EXPECT_EQ(json.at("messages_failed"), 0);
  EXPECT_EQ(json.at("bytes_delivered"), 128);
  EXPECT_GT(json.at("sim_time_ns"), 0);
  EXPECT_LE(json.at("latency_ns").at("min"), json.at("latency_ns").at("max"));
  EXPECT_TRUE(json.at("counters").contains("a"));
}

TEST_F(RunCommand, WritesTheFilesOfOut) {
  const Outcome outcome = run_trace("--out " + file("o") + " --set pcie.generation=3");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(contents(file("o/stats.json"))).at("messages_completed"), 2);
  const std::string csv = contents(file("o/completions.csv"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3) << csv;
  EXPECT_EQ(contents(file("o/config.toml")), hcasim("config --set pcie.generation=3").out);
  for (const auto& entry : std::filesystem::directory_iterator(file("o"))) {
    EXPECT_NE(entry.path().extension(), ".tmp");
  }
}

TEST_F(RunCommand, GivesTheSameBytesWithRunAheadOff) {
  ASSERT_EQ(run_trace("--out " + file("on") + " --pcap " + file("on.pcap")).status, 0);
  ASSERT_EQ(run_trace("--no-run-ahead --out " + file("off") + " --pcap " + file("off.pcap")).status,
            0);
  for (const char* name : {"/stats.json", "/completions.csv", "/config.toml", ".pcap"}) {
    EXPECT_EQ(contents(file("on") + name), contents(file("off") + name)) << name;
  }
}

TEST_F(RunCommand, TheConfigurationReachesTheModel) {
  const auto latency = [&](const std::string& arguments) {
    return nlohmann::json::parse(run_trace("--json " + arguments).out).at("latency_ns").at("min");
  };
  EXPECT_GT(latency("--set fabric.propagation_ns=5000"), latency(""));
  EXPECT_GT(latency("--set node.b.pcie.propagation_ns=5000"), latency(""));
}

TEST_F(RunCommand, TheSeedReachesTheModel) {
  const auto stats = [&](const std::string& seed) {
    return run_trace("--json --seed " + seed).out;
  };
  EXPECT_EQ(stats("7"), stats("7"));
  EXPECT_NE(stats("7"), stats("8"));
}

TEST_F(RunCommand, ABadTraceLeavesNothingBehind) {
  std::ofstream(trace(), std::ios::app) << "a post_snd q SEND length=64\n";
  const std::string outputs = " --out " + file("o") + " --pcap " + file("p.pcap");
  expect_refused("run " + trace() + outputs, "t.trace:7:3: expected a verb, found 'post_snd'");
  EXPECT_FALSE(std::filesystem::exists(file("o")));
  EXPECT_FALSE(std::filesystem::exists(file("p.pcap")));
  EXPECT_FALSE(std::filesystem::exists(file("p.pcap.tmp")));
}

TEST_F(RunCommand, RefusesBadInput) {
  expect_refused("run", "TRACE is required");
  expect_refused("run " + file("none.trace"), "No such file or directory");
  expect_refused("run " + trace() + " --set pcie.widht=8", "did you mean 'pcie.width'?");
  expect_refused("run " + trace() + " --preset generic --config x", "exclude each other");
  expect_refused("run " + trace() + " --seed -1", "--seed");
  expect_refused("run " + trace() + " --seed many", "--seed");
  expect_refused("run " + trace() + " --no-runahead", "did you mean '--no-run-ahead'?");
}

TEST_F(RunCommand, RefusesAConfigurationOfANodeThatIsNotThere) {
  std::ofstream(file("c.toml")) << "[node.c.pcie]\ntags = 4\n";
  expect_refused("run " + trace() + " --config " + file("c.toml"), "expected a node of ");
}

TEST_F(RunCommand, RefusesOutputsThatCannotBeWrittenBeforeItRuns) {
  std::ofstream(file("a_file")) << "x";
  expect_refused("run " + trace() + " --out " + file("a_file"), "cannot write");
  expect_refused("run " + trace() + " --pcap " + file("no/such.pcap"), "cannot write");
  expect_refused("run " + trace() + " --pcap " + trace(), "other than the trace");
  EXPECT_EQ(contents(trace()), kPingPong);
}

TEST_F(RunCommand, AFullDiskFailsARunThatHadBegun) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const Outcome outcome = hcasim("run " + trace(), "/dev/full");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "hcasim: stdout: cannot write: No space left on device\n");
}

}  // namespace
}  // namespace hcasim::test
