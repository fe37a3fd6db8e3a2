// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Known answers: frames that a stock RoCEv2 driver sent.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fabric/capture_file.hpp"
#include "fabric/codec.hpp"
#include "support/independent_icrc.hpp"
#include "support/samples.hpp"

namespace hcasim::fabric {
namespace {

using hw::BthOpcode;

class Samples : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(support::rxe_capture(""))) {
      GTEST_SKIP() << "no sample captures in " << support::samples_folder();
    }
  }

  template <typename Visit>
  void for_each_frame(const std::filesystem::path& file, Visit visit) {
    CaptureReader reader(file);
    CapturedFrame frame;
    while (reader.next(frame)) {
      result_ = decode_frame(frame.bytes, packet_);
      ASSERT_TRUE(result_.is_roce()) << file << ' ' << frame.number << describe(result_.status);
      visit(frame);
    }
  }

  std::map<BthOpcode, int> opcodes_of(const char* name) {
    std::map<BthOpcode, int> counts;
    for_each_frame(support::rxe_capture(name),
                   [&](const CapturedFrame&) { ++counts[packet_.opcode]; });
    return counts;
  }

  Packet packet_;
  DecodeResult result_;
};

TEST_F(Samples, HaveRightIcrcsAndEncodeToTheSameBytes) {
  std::vector<std::uint8_t> encoded(kMaxFrameBytes);
  int files = 0;
  int frames = 0;
  for (const auto& entry : std::filesystem::directory_iterator(support::rxe_capture(""))) {
    if (entry.path().extension() != ".pcap") continue;
    ++files;
    for_each_frame(entry.path(), [&](const CapturedFrame& frame) {
      ++frames;
      ASSERT_EQ(result_.icrc, IcrcStatus::kOk) << entry.path() << ' ' << frame.number;
      ASSERT_EQ(frame.bytes.size(), packet_.frame_bytes());
      const std::size_t size = encode_frame(packet_, encoded);
      ASSERT_TRUE(std::equal(frame.bytes.begin(), frame.bytes.end(), encoded.begin(),
                             encoded.begin() + static_cast<std::ptrdiff_t>(size)))
          << entry.path() << ' ' << frame.number;
    });
  }
  EXPECT_GE(files, 25);
  EXPECT_GE(frames, 7000);
}

TEST_F(Samples, HaveIcrcsThatTheSlowRoutineFindsRight) {
  for (const char* name : {"rping.pcap", "udaddy.pcap", "loss_atomic.pcap", "write_lat.pcap"}) {
    for_each_frame(support::rxe_capture(name), [&](const CapturedFrame& frame) {
      ASSERT_TRUE(support::independent_icrc_ok(frame.bytes)) << name << ' ' << frame.number;
    });
  }
}

TEST_F(Samples, HaveTheOpcodesThatWereCountedByAnotherProgram) {
  EXPECT_EQ(opcodes_of("loss_send.pcap"),
            (std::map<BthOpcode, int>{{BthOpcode::kRcAcknowledge, 46},
                                      {BthOpcode::kRcSendFirst, 97},
                                      {BthOpcode::kRcSendLast, 107},
                                      {BthOpcode::kRcSendMiddle, 1456}}));
  EXPECT_EQ(opcodes_of("atomic_cas.pcap"),
            (std::map<BthOpcode, int>{{BthOpcode::kRcAtomicAcknowledge, 20},
                                      {BthOpcode::kRcCompareSwap, 20}}));
  EXPECT_EQ(opcodes_of("rping.pcap"), (std::map<BthOpcode, int>{{BthOpcode::kRcAcknowledge, 15},
                                                                {BthOpcode::kRcReadRequest, 3},
                                                                {BthOpcode::kRcReadResponseOnly, 3},
                                                                {BthOpcode::kRcSendOnly, 12},
                                                                {BthOpcode::kRcWriteOnly, 3},
                                                                {BthOpcode::kUdSendOnly, 5}}));
  EXPECT_EQ(opcodes_of("udaddy.pcap"), (std::map<BthOpcode, int>{{BthOpcode::kUdSendOnly, 2},
                                                                 {BthOpcode::kUdSendOnlyImm, 8}}));
  EXPECT_EQ(opcodes_of("write_bw_uc.pcap"),
            (std::map<BthOpcode, int>{{BthOpcode::kUcWriteFirst, 20},
                                      {BthOpcode::kUcWriteLast, 20},
                                      {BthOpcode::kUcWriteMiddle, 40}}));
}

TEST_F(Samples, HaveTheSyndromesThatWereCountedByAnotherProgram) {
  std::map<int, int> syndromes;
  for_each_frame(support::rxe_capture("send_bw_rnr.pcap"), [&](const CapturedFrame&) {
    if (packet_.info().headers & hw::kHasAeth) ++syndromes[packet_.aeth.syndrome];
  });
  EXPECT_EQ(syndromes, (std::map<int, int>{{0x1f, 174}, {0x2c, 38}, {0x60, 38}}));
}

}  // namespace
}  // namespace hcasim::fabric
