// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Traffic without any sense: whatever comes, nothing is counted twice or lost.
#include <gtest/gtest.h>

#include <random>

#include "made_capture.hpp"
#include "support/seed.hpp"

namespace hcasim::sim {
namespace {

class RandomTraffic : public MadeCapture {
 protected:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  void send_any() {
    const auto opcode = static_cast<hw::BthOpcode>(kServices[below(4)] + below(0x18));
    const std::uint32_t qpn = static_cast<std::uint32_t>(20 + below(3));
    const std::uint32_t psn = static_cast<std::uint32_t>(base_ + below(24));
    send(static_cast<int>(1 + below(2)), opcode, qpn, psn, below(3) * 256,
         [this](fabric::Packet& packet) {
           packet.reth.length = static_cast<std::uint32_t>(below(2000));
           packet.aeth.syndrome = kSyndromes[below(6)];
         });
    ++sent_;
    if (below(100) == 0) base_ = static_cast<std::uint32_t>(random_() & 0xff'ffff);
    if (below(5) == 0) base_ += 3;
  }

  static constexpr std::uint8_t kServices[] = {0x00, 0x00, 0x20, 0x60};
  static constexpr std::uint8_t kSyndromes[] = {0x1f, 0x1f, 0x2c, 0x60, 0x62, 0x9f};

  std::mt19937_64 random_{support::test_seed(4)};
  std::uint32_t base_ = 0xff'fff0;
  std::uint64_t sent_ = 0;
};

TEST_F(RandomTraffic, IsAccountedFor) {
  for (int i = 0; i < 20'000; ++i) send_any();
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.packets, sent_);
  EXPECT_EQ(found.icrc.ok, sent_);
  std::uint64_t completed = 0;
  for (const auto& [opcode, count] : found.messages) completed += count;
  EXPECT_EQ(completed + found.refused + found.unfinished, found.records.size());
  EXPECT_GT(completed, 100u);
  EXPECT_GT(found.refused, 0u);
  EXPECT_GT(found.retransmitted, 100u);
  for (std::size_t i = 1; i < found.records.size(); ++i) {
    ASSERT_LT(found.records[i - 1].first_frame, found.records[i].first_frame);
  }
}

TEST_F(RandomTraffic, OfOnePacketMessagesIsOnePacketOneMessageOrRepeat) {
  for (int i = 0; i < 5000; ++i) {
    send(1, hw::BthOpcode::kRcSendOnly, 20, static_cast<std::uint32_t>(below(1000)), 8);
    if (below(4) == 0) answer(2, 30, static_cast<std::uint32_t>(below(1000)));
  }
  const CaptureAnalysis found = analyse();
  EXPECT_EQ(found.records.size() + found.retransmitted, 5000u);
}

}  // namespace
}  // namespace hcasim::sim
