// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Each header on its own: known bytes, and any bytes through decode and encode.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <span>

#include "hcasim/hw/cqe.hpp"
#include "hcasim/hw/wire/bth.hpp"
#include "hcasim/hw/wire/ethernet.hpp"
#include "hcasim/hw/wire/ip.hpp"
#include "hcasim/hw/wqe.hpp"
#include "support/seed.hpp"

namespace hcasim::hw {
namespace {

using Random = std::mt19937_64;

template <typename T>
T any(Random& random) {
  return static_cast<T>(random());
}

std::uint32_t any24(Random& random) {
  return any<std::uint32_t>(random) & 0xff'ffff;
}

template <std::size_t N>
std::array<std::uint8_t, N> any_bytes(Random& random) {
  std::array<std::uint8_t, N> bytes;
  for (auto& byte : bytes) byte = any<std::uint8_t>(random);
  return bytes;
}

bool flip(Random& random) {
  return (random() & 1) != 0;
}

Bth random_header(Random& r, Bth) {
  Bth bth;
  bth.opcode = static_cast<BthOpcode>(any<std::uint8_t>(r));
  bth.solicited = flip(r);
  bth.migrated = flip(r);
  bth.pad_count = any<std::uint8_t>(r) & 3;
  bth.version = any<std::uint8_t>(r) & 15;
  bth.pkey = any<std::uint16_t>(r);
  bth.fecn = flip(r);
  bth.becn = flip(r);
  bth.reserved_6 = any<std::uint8_t>(r) & 63;
  bth.dest_qp = any24(r);
  bth.ack_request = flip(r);
  bth.reserved_7 = any<std::uint8_t>(r) & 127;
  bth.psn = any24(r);
  return bth;
}
Deth random_header(Random& r, Deth) {
  return {any<std::uint32_t>(r), any24(r)};
}
Reth random_header(Random& r, Reth) {
  return {any<std::uint64_t>(r), any<std::uint32_t>(r), any<std::uint32_t>(r)};
}
Aeth random_header(Random& r, Aeth) {
  return {any<std::uint8_t>(r), any24(r)};
}
AtomicEth random_header(Random& r, AtomicEth) {
  return {any<std::uint64_t>(r), any<std::uint32_t>(r), any<std::uint64_t>(r),
          any<std::uint64_t>(r)};
}
AtomicAckEth random_header(Random& r, AtomicAckEth) {
  return {any<std::uint64_t>(r)};
}
ImmDt random_header(Random& r, ImmDt) {
  return {any<std::uint32_t>(r)};
}
Ieth random_header(Random& r, Ieth) {
  return {any<std::uint32_t>(r)};
}
XrcEth random_header(Random& r, XrcEth) {
  return {any24(r)};
}
Lrh random_header(Random& r, Lrh) {
  Lrh lrh;
  lrh.virtual_lane = any<std::uint8_t>(r) & 15;
  lrh.link_version = any<std::uint8_t>(r) & 15;
  lrh.service_level = any<std::uint8_t>(r) & 15;
  lrh.next_header = static_cast<LinkNextHeader>(any<std::uint8_t>(r) & 3);
  lrh.dest_lid = any<std::uint16_t>(r);
  lrh.length = any<std::uint16_t>(r) & 0x7ff;
  lrh.src_lid = any<std::uint16_t>(r);
  return lrh;
}
Grh random_header(Random& r, Grh) {
  Grh grh;
  grh.version = any<std::uint8_t>(r) & 15;
  grh.traffic_class = any<std::uint8_t>(r);
  grh.flow_label = any<std::uint32_t>(r) & 0xf'ffff;
  grh.payload_length = any<std::uint16_t>(r);
  grh.next_header = any<std::uint8_t>(r);
  grh.hop_limit = any<std::uint8_t>(r);
  grh.src = any_bytes<16>(r);
  grh.dst = any_bytes<16>(r);
  return grh;
}
Ethernet random_header(Random& r, Ethernet) {
  return {any_bytes<6>(r), any_bytes<6>(r), any<std::uint16_t>(r)};
}
Vlan random_header(Random& r, Vlan) {
  Vlan vlan;
  vlan.priority = any<std::uint8_t>(r) & 7;
  vlan.drop_eligible = flip(r);
  vlan.id = any<std::uint16_t>(r) & 0xfff;
  vlan.ether_type = any<std::uint16_t>(r);
  return vlan;
}
Ipv4 random_header(Random& r, Ipv4) {
  Ipv4 ip;
  ip.header_words = any<std::uint8_t>(r) & 15;
  ip.traffic_class = any<std::uint8_t>(r);
  ip.total_length = any<std::uint16_t>(r);
  ip.identification = any<std::uint16_t>(r);
  ip.flags = any<std::uint8_t>(r) & 7;
  ip.fragment_offset = any<std::uint16_t>(r) & 0x1fff;
  ip.ttl = any<std::uint8_t>(r);
  ip.protocol = any<std::uint8_t>(r);
  ip.src = any_bytes<4>(r);
  ip.dst = any_bytes<4>(r);
  return ip;
}
Udp random_header(Random& r, Udp) {
  return {any<std::uint16_t>(r), any<std::uint16_t>(r), any<std::uint16_t>(r),
          any<std::uint16_t>(r)};
}

template <typename Header>
class EveryHeader : public testing::Test {};

using Headers = testing::Types<Bth, Deth, Reth, Aeth, AtomicEth, AtomicAckEth, ImmDt, Ieth, XrcEth,
                               Lrh, Grh, Ethernet, Vlan, Ipv4, Udp>;
TYPED_TEST_SUITE(EveryHeader, Headers);

TYPED_TEST(EveryHeader, ComesBackFromItsBytes) {
  Random random(support::test_seed(1));
  for (int i = 0; i < 1000; ++i) {
    TypeParam header = random_header(random, TypeParam{});
    std::array<std::uint8_t, TypeParam::kBytes> bytes = any_bytes<TypeParam::kBytes>(random);
    header.encode(bytes);
    TypeParam decoded = TypeParam::decode(bytes);
    if constexpr (std::is_same_v<TypeParam, Ipv4>) {
      EXPECT_EQ(internet_checksum(bytes), 0);
      header.checksum = decoded.checksum;
    }
    ASSERT_EQ(decoded, header);
  }
}

TEST(WireSizes, AreThoseOfTheSpecification) {
  EXPECT_EQ(Lrh::kBytes, 8u);
  EXPECT_EQ(Grh::kBytes, 40u);
  EXPECT_EQ(Bth::kBytes, 12u);
  EXPECT_EQ(Deth::kBytes, 8u);
  EXPECT_EQ(Reth::kBytes, 16u);
  EXPECT_EQ(Aeth::kBytes, 4u);
  EXPECT_EQ(AtomicEth::kBytes, 28u);
  EXPECT_EQ(AtomicAckEth::kBytes, 8u);
  EXPECT_EQ(ImmDt::kBytes, 4u);
  EXPECT_EQ(Ieth::kBytes, 4u);
  EXPECT_EQ(kIcrcBytes, 4u);
  EXPECT_EQ(kVcrcBytes, 2u);
  EXPECT_EQ(Ethernet::kBytes, 14u);
  EXPECT_EQ(Ipv4::kBytes, 20u);
  EXPECT_EQ(Ipv6::kBytes, 40u);
  EXPECT_EQ(Udp::kBytes, 8u);
}

TEST(Bth, HasEachFieldInItsPlace) {
  Bth bth;
  bth.opcode = BthOpcode::kRcSendLast;
  bth.solicited = true;
  bth.pad_count = 2;
  bth.pkey = 0x8001;
  bth.becn = true;
  bth.dest_qp = 0x123456;
  bth.ack_request = true;
  bth.psn = 0xabcdef;
  std::array<std::uint8_t, Bth::kBytes> bytes{};
  bth.encode(bytes);
  const std::array<std::uint8_t, 12> expected{0x02, 0xa0, 0x80, 0x01, 0x40, 0x12,
                                              0x34, 0x56, 0x80, 0xab, 0xcd, 0xef};
  EXPECT_EQ(bytes, expected);
}

TEST(AtomicEth, CarriesSwapBeforeCompare) {
  const AtomicEth atomic{0x1122334455667788, 0x99aabbcc, 1, 2};
  std::array<std::uint8_t, AtomicEth::kBytes> bytes{};
  atomic.encode(bytes);
  EXPECT_EQ(bytes[0], 0x11);
  EXPECT_EQ(bytes[8], 0x99);
  EXPECT_EQ(bytes[19], 1);
  EXPECT_EQ(bytes[27], 2);
}

TEST(Ipv4, HasTheChecksumOfRfc1071) {
  // The header of a captured packet, 10.7.7.2 to 10.7.7.1.
  const std::array<std::uint8_t, 20> captured{0x45, 0x00, 0x01, 0x34, 0x74, 0x7b, 0x40,
                                              0x00, 0x40, 0x11, 0xa3, 0x2d, 10,   7,
                                              7,    2,    10,   7,    7,    1};
  const Ipv4 ip = Ipv4::decode(captured);
  EXPECT_EQ(ip.total_length, 308);
  EXPECT_EQ(ip.flags, 2);
  std::array<std::uint8_t, 20> encoded{};
  ip.encode(encoded);
  EXPECT_EQ(encoded, captured);
}

TEST(ByteOrder, IsAsNamed) {
  std::array<std::uint8_t, 4> bytes{};
  store_be(bytes.data(), 0x01020304u);
  EXPECT_EQ(bytes, (std::array<std::uint8_t, 4>{1, 2, 3, 4}));
  EXPECT_EQ(load_le<std::uint32_t>(bytes.data()), 0x04030201u);
  store_le(bytes.data(), std::uint16_t{0x0a0b});
  EXPECT_EQ(load_be24(bytes.data()), 0x0b0a03u);
}

TEST(Gid, TellsIpv4FromIpv6) {
  const std::array<std::uint8_t, 4> address{10, 7, 7, 2};
  Gid gid = gid_of_ipv4(address);
  EXPECT_TRUE(is_ipv4_gid(gid));
  EXPECT_EQ(gid[12], 10);
  gid[0] = 0xfe;
  EXPECT_FALSE(is_ipv4_gid(gid));
  EXPECT_FALSE(is_ipv4_gid(Gid{}));
}

TEST(Pkey, MembersOfOnePartitionMatchUnlessBothAreLimited) {
  EXPECT_TRUE(pkeys_match(0xffff, 0xffff));
  EXPECT_TRUE(pkeys_match(0xffff, 0x7fff));
  EXPECT_FALSE(pkeys_match(0x7fff, 0x7fff));
  EXPECT_FALSE(pkeys_match(0xffff, 0x8001));
}

TEST(SendWqeDatagram, LiesBetweenControlAndData) {
  EXPECT_EQ(send_wqe_data_offset(WrOpcode::kSend, QpType::kUd), 96u);
  EXPECT_EQ(send_wqe_stride(2, 0, QpType::kUd), 128u);
  EXPECT_EQ(send_wqe_stride(3, 0, QpType::kUd), 192u);
  SendWqeDatagram datagram{};
  for (std::size_t i = 0; i < 16; ++i) datagram.av.dgid[i] = static_cast<std::uint8_t>(i);
  datagram.remote_qpn = 0x12'3456;
  datagram.remote_qkey = kOwnQkey | 7;
  std::array<std::uint8_t, sizeof datagram> bytes{};
  store(bytes.data(), datagram);
  EXPECT_EQ(bytes[16 + 15], 15);
  EXPECT_EQ(bytes[64], 0x56);  // little endian, behind the address vector
  EXPECT_EQ(bytes[71], 0x80);
  const auto again = load<SendWqeDatagram>(bytes.data());
  EXPECT_EQ(again.av.dgid, datagram.av.dgid);
  EXPECT_EQ(again.remote_qpn, datagram.remote_qpn);
  EXPECT_EQ(again.remote_qkey, datagram.remote_qkey);
}

TEST(Cqe, HasThePkeyIndexBeforeItsReserve) {
  Cqe cqe{};
  cqe.pkey_index = 0x0102;
  cqe.flags = kCqeGrh;
  std::array<std::uint8_t, sizeof cqe> bytes{};
  store(bytes.data(), cqe);
  EXPECT_EQ(bytes[30], 1);
  EXPECT_EQ(bytes[32], 2);
  EXPECT_EQ(bytes[33], 1);
}

}  // namespace
}  // namespace hcasim::hw
