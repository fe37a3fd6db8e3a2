// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The same traffic in every form in which captures come: other link layers, byte orders, stamps,
// file formats and lengths. What is found must be what is found in the original.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "rewritten_capture.hpp"
#include "sim/import/capture_analysis.hpp"
#include "support/samples.hpp"

namespace hcasim::sim {
namespace {

namespace fs = std::filesystem;
using rewritten::Bytes;
using rewritten::Format;
using rewritten::Frame;

void expect_same(const CaptureAnalysis& found, const CaptureAnalysis& original) {
  EXPECT_EQ(found.packets, original.packets);
  EXPECT_EQ(found.messages, original.messages);
  EXPECT_EQ(found.refused, original.refused);
  EXPECT_EQ(found.unfinished, original.unfinished);
  EXPECT_EQ(found.bytes, original.bytes);
  EXPECT_EQ(found.retransmitted, original.retransmitted);
  EXPECT_EQ(found.naks, original.naks);
  EXPECT_EQ(found.management, original.management);
  EXPECT_EQ(found.not_modelled, original.not_modelled);
  EXPECT_EQ(found.unexplained, original.unexplained);
  EXPECT_EQ(found.endpoints, original.endpoints);
  EXPECT_EQ(found.records.size(), original.records.size());
}

class Rewritten : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const fs::path shipped = fs::path(HCASIM_SOURCE_DIR) / "traces" / "captures" / GetParam();
    source_ = fs::exists(shipped) ? shipped : support::rxe_capture(GetParam());
    if (!fs::exists(source_)) GTEST_SKIP() << "no " << source_;
    original_ = analyse_capture(source_);
    ASSERT_EQ(original_.icrc.ok, original_.packets);
  }
  ~Rewritten() override {
    fs::remove(file_);
    fs::remove(second_);
  }

  static fs::path temporary(const std::string& name) {
    return fs::temp_directory_path() / ("hcasim-" + std::to_string(getpid()) + name);
  }

  CaptureAnalysis analyse(const Format& format, Bytes (*rewrite)(const Bytes&)) {
    {
      rewritten::PcapFile out(file_, format);
      for (const Frame& frame : rewritten::frames_of(source_)) {
        out.write({frame.time, rewrite(frame.bytes)});
      }
    }
    return analyse_capture(file_);
  }
  void expect_whole(const CaptureAnalysis& found) {
    expect_same(found, original_);
    EXPECT_EQ(found.icrc, original_.icrc);
  }
  /// @return false, having skipped, where the program is missing
  bool editcap(const std::string& options) {
    if (std::system("editcap --version > /dev/null 2>&1") != 0) return false;
    const std::string command = "editcap " + options + " '" + source_.string() + "' '" +
                                file_.string() + "' > /dev/null 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return true;
  }

  fs::path source_;
  fs::path file_ = temporary(".pcap");
  fs::path second_ = temporary("-2.pcap");
  CaptureAnalysis original_;
};

TEST_P(Rewritten, OtherByteOrderAndStamps) {
  for (const bool big_endian : {false, true}) {
    for (const bool nanoseconds : {false, true}) {
      SCOPED_TRACE(testing::Message() << big_endian << nanoseconds);
      expect_whole(analyse({1, big_endian, nanoseconds}, rewritten::ethernet));
    }
  }
}

TEST_P(Rewritten, VlanTag) {
  expect_whole(analyse({}, rewritten::with_vlan));
}

TEST_P(Rewritten, LinuxCooked) {
  expect_whole(analyse({113}, rewritten::linux_cooked));
}

TEST_P(Rewritten, LinuxCooked2) {
  expect_whole(analyse({276, true}, rewritten::linux_cooked2));
}

TEST_P(Rewritten, NativeInfiniband) {
  expect_whole(analyse({197, false, true}, rewritten::erf_infiniband));
}

TEST_P(Rewritten, Pcapng) {
  if (!editcap("-F pcapng")) GTEST_SKIP() << "no editcap";
  expect_whole(analyse_capture(file_));
}

TEST_P(Rewritten, NanosecondFile) {
  if (!editcap("-F nsecpcap")) GTEST_SKIP() << "no editcap";
  expect_whole(analyse_capture(file_));
}

// 100 bytes hold all headers, and the whole of an answer: nothing is lost but the ICRC's check.
// Those of set-up packets do not, and pair nothing that traffic does not.
TEST_P(Rewritten, Truncated) {
  if (!editcap("-F pcap -s 100")) GTEST_SKIP() << "no editcap";
  const CaptureAnalysis found = analyse_capture(file_);
  expect_same(found, original_);
  EXPECT_EQ(found.icrc.bad, 0u);
  EXPECT_EQ(found.icrc.ok + found.icrc.unchecked, found.packets);
}

// One capture at each end; the clock of the second is 90 us behind, and it misses every tenth
// packet.
TEST_P(Rewritten, BothEndsMerged) {
  {
    rewritten::PcapFile first(file_, {});
    rewritten::PcapFile second(second_, {113});
    int number = 0;
    for (const Frame& frame : rewritten::frames_of(source_)) {
      const hw::Time time = frame.time + 10 * hw::kSecond;
      first.write({time, frame.bytes});
      if (++number % 10 == 0) continue;
      second.write({time - 5 * hw::kSecond, rewritten::linux_cooked(frame.bytes)});
    }
  }
  const std::array both{file_, second_};
  const CaptureAnalysis found = analyse_captures(both);
  EXPECT_GT(found.frames, original_.frames);
  expect_same(found, original_);
}

// Each end's capture has what that end sent: together they are the whole.
TEST_P(Rewritten, HalvesMerged) {
  {
    rewritten::PcapFile first(file_, {});
    rewritten::PcapFile second(second_, {});
    const std::vector<Frame> frames = rewritten::frames_of(source_);
    for (const Frame& frame : frames) {
      const bool same_sender = std::equal(frame.bytes.begin() + 26, frame.bytes.begin() + 30,
                                          frames.front().bytes.begin() + 26);
      (same_sender ? first : second).write(frame);
    }
  }
  const std::array both{file_, second_};
  expect_whole(analyse_captures(both));
}

INSTANTIATE_TEST_SUITE_P(Captures, Rewritten,
                         testing::Values("rc_pingpong.pcap", "read_bw.pcap", "send_bw_rnr.pcap",
                                         "rping.pcap", "udaddy.pcap", "uc_pingpong.pcap",
                                         "loss_write.pcap", "multi_qp_send.pcap",
                                         "atomic_cas.pcap"),
                         [](const auto& row) { return row.param.substr(0, row.param.find('.')); });

}  // namespace
}  // namespace hcasim::sim
