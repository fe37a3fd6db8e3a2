// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Whole runs with the RTL in place of the receive-queue model, and beside it: the same results to
// the byte, and every fault is told.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "unit/command_line/program.hpp"

namespace hcasim::test {
namespace {

namespace fs = std::filesystem;

const std::string kRtl1024 = HCASIM_RTL_FOLDER "receive_queue_rtl_1024.so";
const std::string kRtl64 = HCASIM_RTL_FOLDER "receive_queue_rtl.so";
const std::string kLines64 = " --set hca.receive_queue.lines=64";

std::vector<std::string> hand_traces() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(HCASIM_SOURCE_DIR "/traces/hand")) {
    if (entry.path().extension() == ".trace") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string hand_trace(const std::string& name) {
  return HCASIM_SOURCE_DIR "/traces/hand/" + name + ".trace";
}

// Everything a run leaves behind, by name.
std::map<std::string, std::string> results(const std::string& trace, const std::string& kind,
                                           const std::string& options) {
  const Scratch scratch(kind);
  const Outcome outcome =
      hcasim("run " + trace + " --rq " + kind + " --json --out " + scratch.file("out") +
             " --pcap " + scratch.file("pcap") + " --ftrace " + scratch.file("ftrace") + options);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  std::map<std::string, std::string> all{{"stdout", outcome.out},
                                         {"pcap", contents(scratch.file("pcap"))},
                                         {"ftrace", contents(scratch.file("ftrace"))}};
  for (const auto& entry : fs::directory_iterator(scratch.file("out"))) {
    all[entry.path().filename()] = contents(entry.path());
  }
  if (kind == "lockstep") {
    EXPECT_TRUE(std::regex_search(
        outcome.err, std::regex("hcasim: lockstep: [1-9][0-9]* cycles compared, 0 run and not "
                                "compared, [0-9]+ skipped; [0-9]+ takes\n")))
        << outcome.err;
  }
  return all;
}

void expect_the_same(const std::string& trace, const std::string& rtl,
                     const std::string& options = {}) {
  const auto model = results(trace, "model", options);
  ASSERT_TRUE(model.contains("stats.json"));
  for (const std::string kind : {"rtl", "lockstep"}) {
    for (const auto& [name, bytes] : results(trace, kind, options + rtl)) {
      EXPECT_TRUE(model.at(name) == bytes) << name << " differs under --rq " << kind;
    }
  }
}

class HandTraces : public testing::TestWithParam<std::string> {};

TEST_P(HandTraces, GiveTheSameResultsWithEachUnit) {
  expect_the_same(hand_trace(GetParam()), " --rtl " + kRtl1024);
}

TEST_P(HandTraces, GiveTheSameResultsWithASmallBuffer) {
  expect_the_same(hand_trace(GetParam()), " --rtl " + kRtl64, kLines64);
}

INSTANTIATE_TEST_SUITE_P(Each, HandTraces, testing::ValuesIn(hand_traces()),
                         [](const auto& param_info) {
                           std::string name = param_info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Queue pairs whose receives do not all fit into 64 lines.
void write_crowd(const std::string& file, unsigned queue_pairs) {
  std::ofstream out(file);
  out << "hcasim-trace 1\n";
  for (unsigned q = 0; q < queue_pairs; ++q) out << "connect a.q" << q << " b.q" << q << '\n';
  for (unsigned q = 0; q < queue_pairs; ++q) {
    for (unsigned i = 0; i < 12; ++i) out << "b post_recv q" << q << " length=64\n";
  }
  for (unsigned i = 0; i < 8; ++i) {
    for (unsigned q = 0; q < queue_pairs; ++q) {
      out << "a post_send q" << q << " SEND length=64 inline at=" << 40 + 2 * i << "us\n";
    }
  }
}

TEST(ReceiveQueueRtl, AFullBufferGivesTheSameResults) {
  const Scratch scratch;
  write_crowd(scratch.file("t"), 30);
  expect_the_same(scratch.file("t"), " --rtl " + kRtl64, kLines64);
}

// The plain program finds it in its own folder.
TEST(ReceiveQueueRtl, TheProjectsOwnIsTheDefault) {
  const Outcome outcome =
      run(HCASIM_PLAIN_PROGRAM " run " + hand_trace("srq") + " --rq lockstep --json");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST(ReceiveQueueRtl, SeveralPlugInsAreCompared) {
  const Scratch scratch;
  write_crowd(scratch.file("t"), 5);
  const Outcome outcome = hcasim("run " + scratch.file("t") + " --rq lockstep --rtl " + kRtl64 +
                                 " --rtl " + kRtl64 + kLines64);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST(ReceiveQueueRtl, MoreQueuesThanItHasAreRefused) {
  const Scratch scratch;
  write_crowd(scratch.file("t"), 70);
  const Outcome outcome = hcasim("run " + scratch.file("t") + " --rq rtl --out " +
                                 scratch.file("out") + " --rtl " + kRtl64 + kLines64);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, testing::HasSubstr("than 64, the Queues of " + kRtl64));
  EXPECT_FALSE(fs::exists(scratch.file("out") + "/stats.json"));
}

void expect_refused(const std::string& options, const std::string& why) {
  const Outcome outcome = hcasim("run " + hand_trace("srq") + ' ' + options);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, testing::HasSubstr(why));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

TEST(ReceiveQueueRtl, AnotherConfigurationIsRefused) {
  const std::string with_1024 = "--rtl " + kRtl1024 + ' ';
  const std::string built = ", for which " + kRtl1024 + " was built, found ";
  expect_refused(with_1024 + "--rq rtl --set hca.receive_queue.takes=8",
                 "expected hca.receive_queue.takes to be 16" + built + "'8'");
  expect_refused(with_1024 + "--rq lockstep --set hca.receive_queue.prefetch_wqes=4",
                 "expected hca.receive_queue.prefetch_wqes to be 8" + built + "'4'");
  expect_refused(with_1024 + "--rq lockstep --set hca.receive_queue.tags=4",
                 "expected hca.receive_queue.tags to be 32" + built + "'4'");
  expect_refused(with_1024 + "--rq lockstep --set hca.receive_queue.fetch_bytes=1024",
                 "expected hca.receive_queue.fetch_bytes to be 512" + built + "'1024'");
  expect_refused("--rq rtl --rtl " + kRtl64, "expected hca.receive_queue.lines to be 64");
}

TEST(ReceiveQueueRtl, WrongOptionsAreRefused) {
  expect_refused("--rq lckstep",
                 "expected model, rtl or lockstep, found 'lckstep'; did you mean "
                 "'lockstep'?");
  expect_refused("--rtl " + kRtl64, "expected --rq rtl or --rq lockstep beside it");
  expect_refused("--rq rtl --rtl " + kRtl64 + " --rtl " + kRtl1024, "expected one plug-in");
  expect_refused("--rq rtl --rtl /nowhere.so", "/nowhere.so: expected a shared library");
  expect_refused("--rq rtl --rtl " + hand_trace("srq"), "expected a shared library");
}

std::string with_wrong_rtl(const std::string& name, const Scratch& scratch) {
  return "run " + hand_trace("srq") + kLines64 + " --rtl " + HCASIM_WRONG_RTL_FOLDER + name +
         ".so --out " + scratch.file("out") + " --record-rq " + scratch.file("rq.stimulus");
}

TEST(ReceiveQueueRtl, AFaultFailsALockstepRun) {
  const Scratch scratch;
  const Outcome outcome = hcasim(with_wrong_rtl("early_limit", scratch) + " --rq lockstep");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(std::regex_search(
      outcome.err, std::regex("receive queues of node server: cycle [0-9]+, event, valid: expected "
                              "0 \\(model\\), found 1 \\(receive_queue, Verilator [0-9.]+\\)")))
      << outcome.err;
  EXPECT_FALSE(fs::exists(scratch.file("out") + "/stats.json"));
  EXPECT_THAT(contents(scratch.file("rq-server.stimulus")), testing::EndsWith("take queue=0\n"));
}

TEST(ReceiveQueueRtl, AnAssertionOfTheRtlFailsARun) {
  const Scratch scratch;
  const Outcome outcome = hcasim(with_wrong_rtl("early_limit_asserted", scratch) + " --rq rtl");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(std::regex_search(
      outcome.err, std::regex("early_limit_asserted.so: cycle [0-9]+: rq_assertions.sv:[0-9]+: "
                              "Assertion failed in [^ ]*rule4_limit")))
      << outcome.err;
  EXPECT_FALSE(fs::exists(scratch.file("out") + "/stats.json"));
}

TEST(ReceiveQueueRtl, TrafficIsRecorded) {
  const Scratch scratch;
  const std::string arguments = "run " + hand_trace("srq") + " --record-rq ";
  ASSERT_EQ(hcasim(arguments + scratch.file("model.stimulus")).status, 0);
  const std::string rtl = " --rq rtl --rtl " + kRtl1024;
  ASSERT_EQ(hcasim(arguments + scratch.file("rtl.stimulus") + rtl).status, 0);
  const std::string recorded = contents(scratch.file("model-server.stimulus"));
  EXPECT_THAT(recorded,
              testing::StartsWith("hcasim-receive-queue-stimulus 1\nparameters queues=1024 "
                                  "takes=16 prefetch=8 tags=32 fetch_bytes=512 "
                                  "lines=4096 events=8\n"));
  for (const char* line :
       {"init queue=0 size=9 stride=32 head=0 offset=", "doorbell queue=0 head=5", "beat tag=0",
        "set_limit queue=0 limit=3 arm=1", "take queue=0", "pause queue=0",
        "command op=3 queue=0 size=33 ", "invalidate queue=0"}) {
    EXPECT_THAT(recorded, testing::HasSubstr('\n' + std::string(line)));
  }
  EXPECT_EQ(recorded, contents(scratch.file("rtl-server.stimulus")));
}

}  // namespace
}  // namespace hcasim::test
