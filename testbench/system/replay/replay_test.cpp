// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Captures and traces through the whole program: import, run, and what comes out of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fabric/capture_file.hpp"
#include "support/independent_icrc.hpp"
#include "support/samples.hpp"
#include "unit/command_line/program.hpp"

namespace hcasim::test {
namespace {

using nlohmann::json;

struct CaptureCase {
  const char* name;
  const char* receives;  // how receives are posted
};

void PrintTo(const CaptureCase& it, std::ostream* out) {
  *out << it.name << ' ' << it.receives;
}

// All captures but those of management alone; those that the project ships are marked by their
// folder.
const CaptureCase kCases[] = {
    {"atomic_cas", "ahead"},         {"atomic_fadd", "ahead"},
    {"dup_send", "ahead"},           {"loss_atomic", "ahead"},
    {"loss_send", "ahead"},          {"loss_write", "ahead"},
    {"mtu4096_write", "ahead"},      {"multi_qp_send", "ahead"},
    {"nak_access", "ahead"},         {"rc_pingpong", "ahead"},
    {"rc_pingpong", "as-seen"},      {"rc_pingpong_frag", "ahead"},
    {"rdma_client_server", "ahead"}, {"read_bw", "ahead"},
    {"read_lat", "ahead"},           {"rping", "ahead"},
    {"send_bw_rnr", "ahead"},        {"send_bw_rnr", "as-seen"},
    {"send_lat", "ahead"},           {"write_bw", "ahead"},
    {"write_lat", "ahead"},          {"send_bw_uc", "ahead"},
    {"send_bw_uc", "as-seen"},       {"write_bw_uc", "ahead"},
    {"write_bw_uc", "as-seen"},      {"uc_pingpong", "ahead"},
    {"uc_pingpong", "as-seen"},      {"send_bw_ud", "ahead"},
    {"send_bw_ud", "as-seen"},       {"ud_pingpong", "ahead"},
    {"ud_pingpong", "as-seen"},      {"udaddy", "ahead"},
    {"udaddy", "as-seen"},
};

std::filesystem::path find_capture(const std::string& name) {
  const std::filesystem::path shipped =
      std::filesystem::path(HCASIM_SOURCE_DIR) / "traces" / "captures" / (name + ".pcap");
  return std::filesystem::exists(shipped) ? shipped : support::rxe_capture(name + ".pcap");
}

// Frames whose ICRC a routine of its own finds wrong, and frames in all.
std::pair<int, int> judge_icrc(const std::string& pcap) {
  fabric::CaptureReader reader(pcap);
  fabric::CapturedFrame frame;
  int wrong = 0;
  int frames = 0;
  while (reader.next(frame)) {
    ++frames;
    if (!support::independent_icrc_ok(frame.bytes)) ++wrong;
  }
  return {wrong, frames};
}

// tshark finds nothing malformed and no error in the file.
void expect_clean_for_tshark(const std::string& pcap) {
  if (run("command -v tshark").status != 0) GTEST_SKIP() << "tshark is not installed";
  const Outcome found =
      run("tshark -r " + pcap +
          " --disable-protocol tftp -Y '_ws.malformed or _ws.expert.severity >= 8388608 "
          "or not infiniband'");
  EXPECT_EQ(found.status, 0) << found.err;
  EXPECT_EQ(found.out, "");
}

class Capture : public testing::TestWithParam<CaptureCase> {};

TEST_P(Capture, ReplaysAsItWasSeen) {
  const std::filesystem::path capture = find_capture(GetParam().name);
  if (!std::filesystem::exists(capture)) GTEST_SKIP() << capture << " is not there";
  const Scratch scratch;
  const std::string trace = scratch.file("replay.trace");
  const Outcome imported = hcasim("import " + capture.string() + " -o " + trace +
                                  " --json --receives " + GetParam().receives);
  ASSERT_EQ(imported.status, 0) << imported.err;
  const json seen = json::parse(imported.out);
  EXPECT_TRUE(seen["unexplained"].empty()) << seen["unexplained"];
  std::uint64_t messages = 0;
  for (const auto& count : seen["messages"]) messages += count.get<std::uint64_t>();

  const std::string pcap = scratch.file("replay.pcap");
  const Outcome ran = hcasim("run " + trace + " --json --pcap " + pcap);
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json replayed = json::parse(ran.out);
  EXPECT_EQ(replayed["messages_completed"], messages);
  EXPECT_EQ(replayed["messages_failed"], seen["refused"]);
  EXPECT_EQ(replayed["bytes_delivered"], seen["bytes"]);
  if (std::string(GetParam().receives) == "as-seen" && seen["naks"].contains("rnr")) {
    std::uint64_t naks = 0;
    for (const auto& node : replayed["counters"]) {
      naks += node["response"]["rnr_naks"].get<std::uint64_t>();
    }
    EXPECT_EQ(naks, seen["naks"]["rnr"]);
  }

  const auto [wrong, frames] = judge_icrc(pcap);
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(frames, 0);
  expect_clean_for_tshark(pcap);
}

INSTANTIATE_TEST_SUITE_P(All, Capture, testing::ValuesIn(kCases), [](const auto& instance) {
  std::string name = std::string(instance.param.name) + "_" + instance.param.receives;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

class HandTrace : public testing::TestWithParam<const char*> {};

TEST_P(HandTrace, GivesTheSameBytesWithRunAheadOnAndOff) {
  const std::string trace =
      std::string(HCASIM_SOURCE_DIR) + "/traces/hand/" + GetParam() + ".trace";
  const Scratch scratch;
  for (const char* how : {"on", "again", "off"}) {
    const std::string off = std::string(how) == "off" ? " --no-run-ahead" : "";
    const Outcome ran = hcasim("run " + trace + off + " --seed 7 --out " + scratch.file(how));
    ASSERT_EQ(ran.status, 0) << ran.err;
  }
  for (const char* file : {"/stats.json", "/completions.csv"}) {
    const std::string expected = contents(scratch.file("on") + file);
    EXPECT_FALSE(expected.empty());
    EXPECT_EQ(contents(scratch.file("again") + file), expected) << file;
    EXPECT_EQ(contents(scratch.file("off") + file), expected) << file;
  }
}

// Faults are drawn where packets are sent, so neither does it matter to them.
TEST_P(HandTrace, GivesTheSameBytesWithFaults) {
  const std::string trace =
      std::string(HCASIM_SOURCE_DIR) + "/traces/hand/" + GetParam() + ".trace";
  const std::string faults =
      " --set fabric.faults.loss=0.02 --set fabric.faults.corruption=0.02"
      " --set fabric.faults.duplication=0.05 --set fabric.faults.reordering=0.1"
      " --set pcie.faults.slow_read=0.05";
  const Scratch scratch;
  for (const char* how : {"on", "off", "other"}) {
    const std::string off = std::string(how) == "off" ? " --no-run-ahead" : "";
    const std::string seed = std::string(how) == "other" ? " --seed 8" : " --seed 7";
    const Outcome ran =
        hcasim("run " + trace + faults + off + seed + " --out " + scratch.file(how));
    ASSERT_EQ(ran.status, 0) << ran.err;
  }
  for (const char* file : {"/stats.json", "/completions.csv"}) {
    const std::string expected = contents(scratch.file("on") + file);
    EXPECT_EQ(contents(scratch.file("off") + file), expected) << file;
  }
  EXPECT_NE(contents(scratch.file("other") + "/stats.json"),
            contents(scratch.file("on") + "/stats.json"));
}

INSTANTIATE_TEST_SUITE_P(All, HandTrace,
                         testing::Values("counters", "multicast", "ping-pong", "receiver-not-ready",
                                         "refused", "srq", "storage", "two_adapters", "unreliable"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace hcasim::test
