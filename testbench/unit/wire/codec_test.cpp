// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Packets to frames and back, without captures.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <vector>

#include "fabric/codec.hpp"
#include "support/independent_icrc.hpp"
#include "support/seed.hpp"

namespace hcasim::fabric {
namespace {

using Random = std::mt19937_64;

std::vector<std::uint8_t> encode(const Packet& packet) {
  std::vector<std::uint8_t> frame(kMaxFrameBytes);
  frame.resize(encode_frame(packet, frame));
  return frame;
}

Addressing ipv4_address() {
  Addressing address;
  address.src_gid = hw::gid_of_ipv4(std::array<std::uint8_t, 4>{10, 0, 0, 1});
  address.dst_gid = hw::gid_of_ipv4(std::array<std::uint8_t, 4>{10, 0, 0, 2});
  address.src_mac = {2, 0, 0, 0, 0, 1};
  address.dst_mac = {2, 0, 0, 0, 0, 2};
  return address;
}

void randomise(Random& random, Packet& packet) {
  const auto number = [&random](std::uint64_t below) { return random() % below; };
  do {
    packet.opcode = static_cast<hw::BthOpcode>(number(256));
  } while (packet.info().operation == hw::Operation::kNone);
  packet.solicited = number(2) != 0;
  packet.ack_req = number(2) != 0;
  packet.fecn = number(2) != 0;
  packet.pkey = static_cast<std::uint16_t>(number(65536));
  packet.dest_qp = static_cast<std::uint32_t>(number(1 << 24));
  packet.psn = static_cast<std::uint32_t>(number(1 << 24));
  const std::uint16_t headers = packet.info().headers;
  if (headers & hw::kHasDeth) {
    packet.src_qp = static_cast<std::uint32_t>(number(1 << 24));
    packet.qkey = static_cast<std::uint32_t>(random());
  }
  if (headers & hw::kHasXrcEth) packet.xrc_srq = static_cast<std::uint32_t>(number(1 << 24));
  if (headers & hw::kHasReth) packet.reth = {random(), 7, static_cast<std::uint32_t>(random())};
  if (headers & hw::kHasAtomicEth) packet.atomic = {random(), 9, random(), random()};
  if (headers & hw::kHasAeth) packet.aeth = {0x1f, static_cast<std::uint32_t>(number(1 << 24))};
  if (headers & hw::kHasAtomicAckEth) packet.atomic_ack = {random()};
  if (headers & hw::kHasImmDt) packet.imm = {static_cast<std::uint32_t>(random())};
  if (headers & hw::kHasIeth) packet.ieth = {static_cast<std::uint32_t>(random())};
  packet.address = ipv4_address();
  packet.address.traffic_class = static_cast<std::uint8_t>(random());
  packet.address.hop_limit = static_cast<std::uint8_t>(random());
  packet.address.ipv4_id = static_cast<std::uint16_t>(random());
  packet.address.udp_src_port = static_cast<std::uint16_t>(random());
  if (number(2) != 0) {
    packet.address.has_vlan = true;
    packet.address.vlan_tag = static_cast<std::uint16_t>(random());
  }
  if (number(2) != 0) {
    packet.address.dst_gid = {0xfe, 0x80, 1, 2, 3};
    packet.address.src_gid = {0xfe, 0x80, 4, 5, 6};
    packet.address.flow_label = static_cast<std::uint32_t>(number(1 << 20));
    packet.address.ipv4_id = 0;
  }
  for (auto& byte : packet.resize_payload(number(kMaxPayloadBytes + 1))) {
    byte = static_cast<std::uint8_t>(random());
  }
}

TEST(Codec, AnyPacketComesBackFromItsFrame) {
  Random random(support::test_seed(2));
  const auto packet = std::make_unique<Packet>();
  const auto decoded = std::make_unique<Packet>();
  for (int i = 0; i < 500; ++i) {
    packet->clear();
    randomise(random, *packet);
    const std::vector<std::uint8_t> frame = encode(*packet);
    ASSERT_TRUE(support::independent_icrc_ok(frame));
    const DecodeResult result = decode_frame(frame, *decoded);
    ASSERT_TRUE(result.is_roce()) << describe(result.status);
    ASSERT_EQ(result.icrc, IcrcStatus::kOk);
    ASSERT_EQ(static_cast<const PacketHeaders&>(*decoded), *packet);
    ASSERT_TRUE(std::ranges::equal(decoded->payload(), packet->payload()));
  }
}

TEST(Codec, RcSendOnlyCosts82BytesOnTheWire) {
  Packet packet;
  packet.address = ipv4_address();
  packet.resize_payload(64);
  EXPECT_EQ(packet.frame_bytes(), 58u + 64);  // without FCS
  EXPECT_EQ(packet.wire_bytes(), 82u + 64);
  packet.resize_payload(29);  // filled to 32
  EXPECT_EQ(packet.wire_bytes(), 82u + 32);
}

TEST(Codec, FillsAFrameUpTo60BytesAndFcs) {
  Packet packet;
  packet.address = ipv4_address();
  EXPECT_EQ(packet.frame_bytes(), 60u);
  EXPECT_EQ(packet.wire_bytes(), 84u);
  const std::vector<std::uint8_t> frame = encode(packet);
  EXPECT_EQ(frame.size(), 60u);
  const auto decoded = std::make_unique<Packet>();
  EXPECT_EQ(decode_frame(frame, *decoded).icrc, IcrcStatus::kOk);
  EXPECT_EQ(decoded->payload_size(), 0u);
}

class DamagedFrame : public testing::Test {
 protected:
  DamagedFrame() {
    packet_.address = ipv4_address();
    packet_.resize_payload(100);
    std::ranges::fill(packet_.payload(), std::uint8_t{0x5a});
    frame_ = encode(packet_);
  }
  DecodeResult decode() { return decode_frame(frame_, decoded_); }

  Packet packet_;
  Packet decoded_;
  std::vector<std::uint8_t> frame_;
};

TEST_F(DamagedFrame, EveryFlippedBitBehindTheIpHeaderIsSeen) {
  for (std::size_t bit = std::size_t{14 + 20} * 8; bit < frame_.size() * 8; ++bit) {
    const std::size_t byte = bit / 8;
    // The UDP checksum and the congestion bits may change on the way.
    if (byte == 40 || byte == 41 || byte == 46) continue;
    frame_[byte] ^= static_cast<std::uint8_t>(1 << (bit % 8));
    const DecodeResult result = decode();
    EXPECT_FALSE(result.is_roce() && result.icrc == IcrcStatus::kOk) << "bit " << bit;
    frame_[byte] ^= static_cast<std::uint8_t>(1 << (bit % 8));
  }
}

TEST_F(DamagedFrame, CongestionMarksOnTheWayAreNoDamage) {
  hw::Ipv4 ip = hw::Ipv4::decode(std::span(frame_).subspan<14, 20>());
  ip.traffic_class |= 3;
  ip.ttl -= 1;
  ip.encode(std::span(frame_).subspan<14, 20>());
  frame_[46] |= 0x80;
  EXPECT_EQ(decode().icrc, IcrcStatus::kOk);
  EXPECT_TRUE(decoded_.fecn);
  EXPECT_EQ(decoded_.address.ecn(), 3);
}

TEST_F(DamagedFrame, CutPayloadLeavesTheIcrcUnchecked) {
  frame_.resize(14 + 20 + 8 + 12 + 10);
  const DecodeResult result = decode();
  ASSERT_TRUE(result.is_roce());
  EXPECT_EQ(result.icrc, IcrcStatus::kUnchecked);
  EXPECT_EQ(result.payload_captured, 10u);
  EXPECT_EQ(decoded_.payload_size(), 100u);
  EXPECT_EQ(decoded_.payload()[9], 0x5a);
  EXPECT_EQ(decoded_.payload()[10], 0);
}

TEST_F(DamagedFrame, NamesTheReason) {
  const std::vector<std::uint8_t> good = frame_;
  frame_.resize(14 + 20 + 8 + 5);
  EXPECT_EQ(decode().status, DecodeStatus::kCutHeader);
  frame_ = good;
  frame_[12] = 0x08, frame_[13] = 0x06;  // ARP
  EXPECT_EQ(decode().status, DecodeStatus::kOtherProtocol);
  frame_[12] = 0x89, frame_[13] = 0x15;
  EXPECT_EQ(decode().status, DecodeStatus::kRoceV1);
  frame_ = good;
  frame_[36] = 0;  // another port
  EXPECT_EQ(decode().status, DecodeStatus::kOtherProtocol);
  frame_ = good;
  frame_[24] ^= 1;  // IPv4 checksum
  EXPECT_EQ(decode().status, DecodeStatus::kBadIpHeader);
  frame_ = good;
  frame_[39] -= 4;  // UDP length
  EXPECT_EQ(decode().status, DecodeStatus::kBadLength);
  frame_ = good;
  hw::Ipv4 ip = hw::Ipv4::decode(std::span(frame_).subspan<14, 20>());
  ip.flags = 1;
  ip.encode(std::span(frame_).subspan<14, 20>());
  EXPECT_EQ(decode().status, DecodeStatus::kFragment);
}

// A packet whose lengths agree with each other, but leave no room for the headers of its opcode.
TEST_F(DamagedFrame, B46_LengthsThatAreTooShortForTheHeaders) {
  constexpr std::size_t kIp = 14;
  constexpr std::size_t kUdp = kIp + 20;
  for (const auto opcode : {hw::BthOpcode::kRcSendOnly, hw::BthOpcode::kRcWriteOnly,
                            hw::BthOpcode::kRcFetchAdd, hw::BthOpcode::kUdSendOnly}) {
    packet_.opcode = opcode;
    packet_.resize_payload(0);
    const std::vector<std::uint8_t> whole = encode(packet_);
    frame_ = whole;
    ASSERT_TRUE(decode().is_roce());
    hw::Ipv4 ip = hw::Ipv4::decode(std::span(frame_).subspan<kIp, 20>());
    const std::uint16_t length = ip.total_length;
    for (std::uint16_t missing = 1; missing <= length - 20 - 8; ++missing) {
      frame_.assign(whole.begin(), whole.begin() + kIp + length - missing);
      ip.total_length = static_cast<std::uint16_t>(length - missing);
      ip.encode(std::span(frame_).subspan<kIp, 20>());
      const auto udp_length = static_cast<std::uint16_t>(length - 20 - missing);
      frame_[kUdp + 4] = static_cast<std::uint8_t>(udp_length >> 8);
      frame_[kUdp + 5] = static_cast<std::uint8_t>(udp_length);
      const DecodeStatus status = decode().status;
      EXPECT_TRUE(status == DecodeStatus::kBadLength || status == DecodeStatus::kCutHeader)
          << int(opcode) << " without " << missing;
    }
  }
}

TEST_F(DamagedFrame, AnyPrefixAndAnyNoiseIsHandled) {
  Random random(support::test_seed(3));
  const std::vector<std::uint8_t> good = frame_;
  for (std::size_t size = 0; size <= good.size(); ++size) {
    frame_.assign(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    decode();
  }
  for (int i = 0; i < 20000; ++i) {
    frame_ = good;
    for (int change = 0; change < 3; ++change) {
      frame_[12 + random() % 60] = static_cast<std::uint8_t>(random());
    }
    decode();
  }
}

TEST(Codec, LeavesAnUnknownOpcodeToThePayload) {
  Packet packet;
  packet.address = ipv4_address();
  packet.opcode = static_cast<hw::BthOpcode>(0xc7);
  packet.resize_payload(16);
  std::ranges::fill(packet.payload(), std::uint8_t{1});
  const auto decoded = std::make_unique<Packet>();
  ASSERT_EQ(decode_frame(encode(packet), *decoded).icrc, IcrcStatus::kOk);
  EXPECT_EQ(decoded->payload_size(), 16u);
}

}  // namespace
}  // namespace hcasim::fabric
