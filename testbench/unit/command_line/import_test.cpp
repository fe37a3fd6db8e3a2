// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// `hcasim import` on the captures that the project ships.
#include <cstring>
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace hcasim::test {
namespace {

constexpr const char* kCaptures = HCASIM_SOURCE_DIR "/traces/captures/";

std::string shipped(const std::string& name) {
  return kCaptures + name;
}

class ImportCommand : public testing::Test {
 protected:
  std::string trace() const { return scratch_.file("t.trace"); }
  std::string file(const std::string& name) const { return scratch_.file(name); }

  /// Refused, with neither a trace nor a part of one left behind.
  void expect_import_refused(const std::string& arguments, const std::string& text) const {
    expect_refused("import " + arguments + " -o " + trace(), text);
    EXPECT_FALSE(std::filesystem::exists(trace()));
    for (const auto& entry : std::filesystem::directory_iterator(file("."))) {
      EXPECT_NE(entry.path().extension(), ".tmp");
    }
  }

 private:
  const Scratch scratch_;
};

TEST_F(ImportCommand, JsonHoldsWhatWasFound) {
  const Outcome outcome = hcasim("import --json " + shipped("send_bw_rnr.pcap") + " -o " + trace());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const auto expected = nlohmann::json::parse(R"({
    "packets": 1428, "icrc": {"ok": 1428, "bad": 0, "unchecked": 0}, "messages": {"SEND": 60},
    "refused": 0, "unfinished": 0, "bytes": 122880, "endpoints": 2, "retransmitted": 1058,
    "naks": {"rnr": 38, "psn_sequence": 38, "invalid_request": 0, "remote_access": 0,
             "remote_operational": 0},
    "management": 0, "not_modelled": 0, "unexplained": {}})");
  EXPECT_EQ(nlohmann::json::parse(outcome.out), expected);
}

TEST_F(ImportCommand, TellsAPersonAndWritesTheTrace) {
  const Outcome outcome = hcasim("import " + shipped("rc_pingpong.pcap") + " -o " + trace());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, testing::HasSubstr("SEND 40, 40960 bytes"));
  EXPECT_THAT(outcome.out, testing::HasSubstr("sends 40, receives 40"));
  EXPECT_THAT(contents(trace()), testing::StartsWith("hcasim-trace 1\n"));
}

TEST_F(ImportCommand, PassesItsOptionsOn) {
  const Outcome outcome = hcasim("import " + shipped("read_bw.pcap") + " -o " + trace() +
                                 " --receives as-seen --timing asap --assume retry_cnt=3");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const std::string text = contents(trace());
  EXPECT_THAT(text, testing::HasSubstr("assume receives = as-seen"));
  EXPECT_THAT(text, testing::HasSubstr("assume timing = asap"));
  EXPECT_THAT(text, testing::HasSubstr("retry_cnt=3"));
}

TEST_F(ImportCommand, RefusesWhatIsNoCapture) {
  std::ofstream(file("text.pcap")) << "no capture at all, but long enough to hold a header\n";
  expect_import_refused(file("text.pcap"), "text.pcap: ");
  std::ofstream(file("empty.pcap"));
  expect_import_refused(file("empty.pcap"), "empty.pcap: ");
  expect_import_refused(file("missing.pcap"), "No such file or directory");
}

TEST_F(ImportCommand, RefusesATruncatedCapture) {
  std::filesystem::copy_file(shipped("rc_pingpong.pcap"), file("cut.pcap"));
  std::filesystem::permissions(file("cut.pcap"), std::filesystem::perms::owner_all);
  std::filesystem::resize_file(file("cut.pcap"), 5000);
  expect_import_refused(file("cut.pcap"), "cut.pcap: ");
}

TEST_F(ImportCommand, RefusesBadOptions) {
  const std::string capture = shipped("read_bw.pcap");
  expect_import_refused(capture + " --receives aheda", "expected ahead or as-seen, found 'aheda'");
  expect_import_refused(capture + " --timing fast", "expected captured or asap, found 'fast'");
  expect_import_refused(capture + " --assume rety_cnt=3", "did you mean 'retry_cnt'?");
  expect_import_refused(capture + " --recieves ahead", "did you mean '--receives'?");
  expect_refused("import " + capture, "--output is required");
  expect_refused("import -o " + trace(), "CAPTURE is required");
}

TEST_F(ImportCommand, TakesSeveralCapturesAsOne) {
  const std::string capture = shipped("read_bw.pcap");
  const Outcome one = hcasim("import --json " + capture + " -o " + trace());
  const std::string of_one = contents(trace());
  const Outcome two = hcasim("import --json " + capture + " " + capture + " -o " + trace());
  EXPECT_EQ(two.status, 0) << two.err;
  EXPECT_EQ(two.out, one.out);
  EXPECT_EQ(contents(trace()), of_one);
  std::filesystem::remove(trace());
  expect_import_refused(capture + " nowhere.pcap", "nowhere.pcap: No such file");
  expect_import_refused(capture + " /dev/null", "/dev/null: is no regular file");
  expect_import_refused(capture + " --window 3",
                        "--window: expected a time such as 20us or 1.5ms, found '3'");
}

TEST_F(ImportCommand, NeverOverwritesTheCapture) {
  std::filesystem::copy_file(shipped("read_bw.pcap"), file("c.pcap"));
  expect_refused("import " + file("c.pcap") + " -o " + file("c.pcap"), "other than the capture");
  EXPECT_EQ(contents(file("c.pcap")), contents(shipped("read_bw.pcap")));
}

TEST_F(ImportCommand, NoFileThatNobodyNamedIsTouched) {
  std::filesystem::copy_file(shipped("read_bw.pcap"), file("c.tmp"));
  const Outcome outcome = hcasim("import " + file("c.tmp") + " -o " + file("c"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(contents(file("c.tmp")), contents(shipped("read_bw.pcap")));
  EXPECT_THAT(contents(file("c")), testing::StartsWith("hcasim-trace 1\n"));
}

TEST_F(ImportCommand, TakesAndGivesPipes) {
  const Outcome outcome =
      run("cat " + shipped("read_bw.pcap") +
          " | " HCASIM_PROGRAM " import /proc/self/fd/0 -o /proc/self/fd/1 | head -n 1");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "hcasim-trace 1\n");
}

TEST_F(ImportCommand, FramesOlderThanTheFirstDoNoHarm) {
  // The last record of the capture comes first.
  const std::string capture = contents(shipped("rc_pingpong.pcap"));
  std::size_t last = 0;
  for (std::size_t at = 24; at < capture.size();) {
    last = at;
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, &capture[at + 8], sizeof bytes);
    at += 16 + bytes;
  }
  std::ofstream(file("c.pcap"), std::ios::binary)
      << capture.substr(0, 24) << capture.substr(last) << capture.substr(24, last - 24);
  for (const char* timing : {"asap", "captured"}) {
    const Outcome imported =
        hcasim("import " + file("c.pcap") + " -o " + trace() + " --timing " + timing);
    ASSERT_EQ(imported.status, 0) << imported.err;
    EXPECT_THAT(imported.out, testing::HasSubstr("sends 40"));
    EXPECT_EQ(hcasim("run " + trace()).status, 0);
  }
}

TEST_F(ImportCommand, NamesALinkTypeThatIsNotRead) {
  std::string capture = contents(shipped("read_bw.pcap"));
  capture[20] = 101;
  std::ofstream(file("c.pcap"), std::ios::binary) << capture;
  expect_import_refused(file("c.pcap"), "link type RAW (Raw IP) is not read");
}

TEST_F(ImportCommand, ATraceThatCannotBeWrittenIsAnError) {
  expect_refused("import " + shipped("read_bw.pcap") + " -o " + file("no/such/t.trace"),
                 "cannot write: No such file or directory");
}

}  // namespace
}  // namespace hcasim::test
