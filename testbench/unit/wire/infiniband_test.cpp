// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Packets of native InfiniBand links.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "fabric/codec.hpp"
#include "fabric/icrc.hpp"

namespace hcasim::fabric {
namespace {

/// The packet of the ICRC example in the InfiniBand specification: a one-packet RDMA WRITE of RC.
std::vector<std::uint8_t> specification_packet() {
  return {0x70, 0x12, 0x37, 0x5c, 0x00, 0x0e, 0x17, 0xd2,                          // LRH
          0x0a, 0x20, 0x24, 0x87, 0x00, 0x87, 0xb1, 0xb3, 0x00, 0x0d, 0xec, 0x2a,  // BTH
          0x01, 0x71, 0x0a, 0x1c, 0x01, 0x5d, 0x40, 0x02,                          // RETH
          0x38, 0xf2, 0x7a, 0x05, 0x00, 0x00, 0x00, 0x0e,                          //
          0xbb, 0x88, 0x4d, 0x85, 0xfd, 0x5c, 0xfb, 0xa4,                          // payload
          0x72, 0x8b, 0xc0, 0x69, 0x0e, 0xd4, 0x00, 0x00,                          // and pad
          0x96, 0x25, 0xb7, 0x5a, 0x00, 0x00};                                     // ICRC, VCRC
}

TEST(Infiniband, HasTheIcrcOfTheSpecificationsExample) {
  const auto packet = std::make_unique<Packet>();
  const DecodeResult result = decode_infiniband(specification_packet(), *packet);
  ASSERT_TRUE(result.is_roce());
  EXPECT_EQ(result.icrc, IcrcStatus::kOk);
  EXPECT_EQ(packet->opcode, hw::BthOpcode::kRcWriteOnly);
  EXPECT_EQ(packet->dest_qp, 0x87b1b3u);
  EXPECT_EQ(packet->psn, 0x0dec2au);
  EXPECT_EQ(packet->reth.length, 14u);
  EXPECT_EQ(packet->payload_size(), 14u);
  EXPECT_EQ(packet->address.dst_gid[14], 0x37);
  EXPECT_EQ(packet->address.src_gid[15], 0xd2);
}

TEST(Infiniband, SeesDamageAndCuts) {
  const auto packet = std::make_unique<Packet>();
  std::vector<std::uint8_t> bytes = specification_packet();
  bytes[40] ^= 1;
  EXPECT_EQ(decode_infiniband(bytes, *packet).icrc, IcrcStatus::kBad);
  bytes.resize(50);
  EXPECT_EQ(decode_infiniband(bytes, *packet).icrc, IcrcStatus::kUnchecked);
  bytes.resize(30);
  EXPECT_EQ(decode_infiniband(bytes, *packet).status, DecodeStatus::kCutHeader);
  bytes[1] &= 0xfc;  // no transport header follows
  EXPECT_EQ(decode_infiniband(bytes, *packet).status, DecodeStatus::kOtherProtocol);
}

TEST(Infiniband, ReadsAGlobalRouteHeader) {
  std::vector<std::uint8_t> bytes = specification_packet();
  hw::Grh grh;
  grh.src[15] = 1;
  grh.dst[15] = 2;
  grh.payload_length = 48;
  std::array<std::uint8_t, hw::Grh::kBytes> header{};
  grh.encode(header);
  bytes.insert(bytes.begin() + 8, header.begin(), header.end());
  bytes[1] |= 3;
  bytes[5] = static_cast<std::uint8_t>(bytes[5] + header.size() / 4);
  const std::size_t covered = bytes.size() - 6;
  hw::store_le(&bytes[covered], infiniband_icrc(std::span(bytes).first(covered), true));
  bytes[8 + 7] = 1;  // a router counts the hop limit down
  const auto packet = std::make_unique<Packet>();
  EXPECT_EQ(decode_infiniband(bytes, *packet).icrc, IcrcStatus::kOk);
  EXPECT_EQ(packet->address.dst_gid[15], 2);
  EXPECT_EQ(packet->payload_size(), 14u);
}

}  // namespace
}  // namespace hcasim::fabric
