// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// `hcasim run`: what it writes where, and what is left behind when it fails.
#include <nlohmann/json.hpp>

#include <algorithm>

#include "program.hpp"
#include "support/device.hpp"

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
  for (const auto& entry : std::filesystem::directory_iterator(file("."))) {
    EXPECT_NE(entry.path().extension(), ".tmp");
  }
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

TEST_F(RunCommand, NoFileThatNobodyNamedIsTouched) {
  std::ofstream(file("q.tmp")) << kPingPong;
  std::ofstream(file("p.pcap.tmp")) << "mine";
  EXPECT_EQ(hcasim("run " + file("q.tmp") + " --pcap " + file("q")).status, 0);
  EXPECT_EQ(contents(file("q.tmp")), kPingPong);
  EXPECT_EQ(run_trace("--pcap " + file("p.pcap")).status, 0);
  EXPECT_EQ(contents(file("p.pcap.tmp")), "mine");
}

TEST_F(RunCommand, RefusesOutputsThatAreInputs) {
  std::filesystem::create_directory(file("o"));
  std::ofstream(file("o/config.toml")) << "";
  std::ofstream(file("o/stats.json")) << kPingPong;
  const std::string config = " --config " + file("o/config.toml");
  expect_refused("run " + trace() + config + " --pcap " + file("o/config.toml"),
                 "--pcap: expected a file other than the configuration");
  expect_refused("run " + trace() + config + " --out " + file("o"),
                 "--out: expected a file other than the configuration");
  expect_refused("run " + file("o/stats.json") + " --out " + file("o"),
                 "--out: expected a file other than the trace");
  EXPECT_EQ(contents(file("o/config.toml")), "");
  EXPECT_EQ(contents(file("o/stats.json")), kPingPong);
}

TEST_F(RunCommand, RefusesTwoOutputsInOnePlace) {
  for (const char* name : {"stats.json", "completions.csv", "config.toml", "./stats.json"}) {
    expect_refused("run " + trace() + " --out " + file("o") + " --pcap " + file("o/") + name,
                   "of --out, found");
  }
  expect_refused("run " + trace() + " --out " + file("o") + " --pcap " + file("o"),
                 "the folder of --out");
  expect_refused("run " + trace() + " --out " + file("o/deep") + " --pcap " + file("o"),
                 "Is a directory");
  EXPECT_FALSE(std::filesystem::exists(file("o")));
}

TEST_F(RunCommand, PacketsMayLieBesideTheResults) {
  EXPECT_EQ(run_trace("--out " + file("o") + " --pcap " + file("o/x.pcap")).status, 0);
  EXPECT_GT(std::filesystem::file_size(file("o/x.pcap")), 24u);
}

TEST_F(RunCommand, AFailedRunLeavesNoFolders) {
  expect_refused("run " + file("none.trace") + " --out " + file("a/b"), "No such file");
  EXPECT_EQ(run_trace("--out " + file("a/b") + " --set hca.device.max_rd_atomic=1").status, 1);
  EXPECT_FALSE(std::filesystem::exists(file("a")));
}

TEST_F(RunCommand, AFullDiskLeavesTheOldResultsTogether) {
  ASSERT_EQ(run_trace("--out " + file("o")).status, 0);
  const std::string csv = contents(file("o/completions.csv"));
  const std::string stats = contents(file("o/stats.json"));
  std::ofstream(trace(), std::ios::app) << "a post_send q RDMA_WRITE length=9 remote=mr\n";
  // The limit holds completions.csv and the packets, but not all of config.toml.
  const Outcome outcome = run("ulimit -f 8; exec " HCASIM_PROGRAM " run " + trace() + " --out " +
                              file("o") + " --pcap " + file("x.pcap"));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, testing::HasSubstr("cannot write: File too large"));
  EXPECT_EQ(contents(file("o/completions.csv")), csv);
  EXPECT_EQ(contents(file("o/stats.json")), stats);
  EXPECT_FALSE(std::filesystem::exists(file("x.pcap")));
}

TEST_F(RunCommand, WritesThroughDevicesAndLinks) {
  std::filesystem::create_symlink(file("target"), file("link"));
  EXPECT_EQ(run_trace("--pcap " + file("link")).status, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(file("link")));
  EXPECT_GT(std::filesystem::file_size(file("target")), 24u);
  if (!support::make_device(file("null"), support::Device::kNull)) GTEST_SKIP() << "not root";
  ASSERT_TRUE(support::make_device(file("full"), support::Device::kFull));
  EXPECT_EQ(run_trace("--pcap " + file("null")).status, 0);
  EXPECT_TRUE(std::filesystem::is_character_file(file("null")));
  const Outcome full = run_trace("--pcap " + file("full"));
  EXPECT_EQ(full.status, 1);
  EXPECT_THAT(full.err, testing::StartsWith("hcasim: " + file("full") +
                                            ": cannot write: No space left on device\n"));
}

TEST_F(RunCommand, ReadsATraceFromAPipe) {
  const Outcome direct = run_trace("--json");
  EXPECT_EQ(run("cat " + trace() + " | " HCASIM_PROGRAM " run /dev/stdin --json").out, direct.out);
  EXPECT_EQ(run("mkfifo " + file("p") + "; cat " + trace() + " >" + file("p") +
                " & timeout 30 sh -c 'until [ -p " + file("p") +
                " ]; do :; done; " HCASIM_PROGRAM " run " + file("p") + " --json'")
                .out,
            direct.out);
  std::ofstream(trace(), std::ios::app) << "a post_snd q SEND\n";
  const Outcome wrong = run("cat " + trace() + " | " HCASIM_PROGRAM " run /dev/stdin");
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, testing::HasSubstr("/dev/stdin:7:3: expected a verb"));
}

// Most tests run the program with a protocol monitor inside.
TEST_F(RunCommand, GivesTheSameBytesWhetherItIsWatchedOrNot) {
  const std::string faults = " --set fabric.faults.loss=0.05 --set pcie.width=1";
  EXPECT_EQ(run_trace("--out " + file("watched") + faults).status, 0);
  EXPECT_EQ(run(HCASIM_PLAIN_PROGRAM " run " + trace() + " --out " + file("alone") + faults).status,
            0);
  for (const char* name : {"/stats.json", "/completions.csv", "/config.toml"}) {
    EXPECT_NE(contents(file("alone") + name), "");
    EXPECT_EQ(contents(file("watched") + name), contents(file("alone") + name)) << name;
  }
}

TEST_F(RunCommand, TheMonitorThatWatchesItSpeaksWhenARuleIsBroken) {
  const std::string report = file("report");
  const std::string watched = "HCASIM_MONITOR=" + report + ' ' + HCASIM_PROGRAM " run " + trace();
  EXPECT_EQ(run(watched).status, 0);
  EXPECT_EQ(contents(report), "");
  EXPECT_EQ(run("HCASIM_MONITOR_DEAF=1 " + watched).status, 0);
  EXPECT_THAT(contents(report), testing::HasSubstr("ack-arrived"));
}

TEST_F(RunCommand, NamesMayLookLikeOptionsAndCommands) {
  std::ofstream(file("-x.trace")) << kPingPong;
  std::ofstream(file("config")) << kPingPong;
  EXPECT_EQ(run("cd " + file(".") + " && " HCASIM_PROGRAM " run -- -x.trace").status, 0);
  EXPECT_EQ(run("cd " + file(".") + " && " HCASIM_PROGRAM " run config").status, 0);
}

TEST_F(RunCommand, LeadingZerosAreDecimal) {
  EXPECT_EQ(run_trace("--json --seed 010").out, run_trace("--json --seed 10").out);
  EXPECT_EQ(run_trace("--seed 18446744073709551615").status, 0);
}

TEST_F(RunCommand, NamesTheLimitThatAnObjectIsBeyond) {
  const auto error = [&](const std::string& setting) {
    const Outcome outcome = run_trace("--set hca.device." + setting);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.err, testing::Not(testing::HasSubstr("LeakSanitizer")));
    return outcome.err;
  };
  EXPECT_THAT(error("max_rd_atomic=8"),
              testing::HasSubstr("max_rd_atomic=16 is above hca.device.max_rd_atomic=8"));
  EXPECT_THAT(error("max_inline_bytes=0"),
              testing::HasSubstr("max_inline_data=64 is above hca.device.max_inline_bytes=0"));
  EXPECT_THAT(error("max_send_sge=1"),
              testing::HasSubstr("max_send_sge=4 is above hca.device.max_send_sge=1"));
  EXPECT_THAT(error("max_recv_sge=1"),
              testing::HasSubstr("max_recv_sge=4 is above hca.device.max_recv_sge=1"));
  EXPECT_THAT(error("max_qp_wr=100"),
              testing::HasSubstr("max_send_wr=128 is above hca.device.max_qp_wr=100"));
  EXPECT_THAT(error("max_cqe=100"),
              testing::HasSubstr("cqe=16384 is above hca.device.max_cqe=100"));
  std::ofstream(trace(), std::ios::app) << "a create_cq late cqe=20000 at=50us\n";
  EXPECT_THAT(error("max_cqe=16384"),
              testing::HasSubstr("cqe=20000 is above hca.device.max_cqe=16384"));
  std::ofstream(trace()) << "hcasim-trace 1\nconnect a.q b.q\nconnect a.r b.r\na create_cq c\n";
  EXPECT_THAT(error("max_qp=1"),
              testing::HasSubstr("no more queue pairs than hca.device.max_qp=1"));
  EXPECT_THAT(error("max_cq=1"),
              testing::HasSubstr("no more completion queues than hca.device.max_cq=1"));
}

// What the reference of keys says may be set can be run.
TEST_F(RunCommand, BoundsOfRangesWork) {
  std::ofstream(trace()) << "hcasim-trace 1\nconnect a.q b.q max_inline_data=928\n"
                         << "a post_send q RDMA_WRITE length=928 remote=mr inline\n";
  for (const char* settings :
       {"hca.receive_queue.takes=64", "hca.receive_queue.tags=64", "hca.receive_queue.lines=65534",
        "hca.receive_queue.lines=16", "hca.device.max_send_sge=58", "hca.device.max_cq=16777216",
        "hca.device.max_qp=16777215 --set hca.device.max_srq=1",
        "hca.device.max_srq=16777215 --set hca.device.max_qp=1"}) {
    const Outcome outcome =
        run_trace("--set hca.device.max_inline_bytes=928 --set " + std::string(settings));
    EXPECT_EQ(outcome.status, 0) << settings << ": " << outcome.err;
  }
}

TEST_F(RunCommand, BeyondItsRangeAKeyIsRefusedByName) {
  for (const char* key :
       {"receive_queue.takes=65", "receive_queue.tags=65", "receive_queue.lines=65535",
        "receive_queue.lines=15", "device.max_qp=16777216", "device.max_srq=16777216",
        "device.max_inline_bytes=929", "device.max_send_sge=59"}) {
    const std::string setting = std::string("hca.") + key;
    expect_refused("run " + trace() + " --set " + setting,
                   "expected " + setting.substr(0, setting.find('=')) + " to be an integer");
  }
}

TEST_F(RunCommand, TooLittleMemoryIsSaidInWords) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer itself needs terabytes of addresses";
#endif
  std::ofstream(trace()) << "hcasim-trace 1\nconnect a.q b.q mr_length=2147483648\n"
                         << "a post_send q RDMA_WRITE length=2147483648 remote=mr\n";
  const Outcome outcome = run("ulimit -v 300000; exec " HCASIM_PROGRAM " run " + trace());
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "hcasim: out of memory\n");
}

// What the run had still before it is nobody's any more when its devices are stopped.
TEST_F(RunCommand, AFullDiskEndsARunInItsMiddle) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  std::ofstream out(trace());
  out << "hcasim-trace 1\nconnect a.q b.q\nconnect a.q2 c.q2\n";
  for (int i = 0; i < 100'000; ++i) {
    out << "b post_recv q length=4096\na post_send q SEND length=4096\n"
        << "c post_recv q2 length=64\na post_send q2 SEND length=64\n"
        << "b post_send q RDMA_WRITE length=64 remote=mr:0\n";
  }
  out.close();
  const Outcome outcome = hcasim("run " + trace() + " --pcap /dev/full");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "hcasim: /dev/full: cannot write: No space left on device\n");
}

TEST_F(RunCommand, AFullDiskFailsARunThatHadBegun) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const Outcome outcome = hcasim("run " + trace(), "/dev/full");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "hcasim: stdout: cannot write: No space left on device\n");
}

}  // namespace
}  // namespace hcasim::test
