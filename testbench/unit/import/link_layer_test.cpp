// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The same packet behind each link layer.
#include "sim/import/link_layer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace hcasim::sim {
namespace {

using fabric::DecodeStatus;
using fabric::IcrcStatus;
using fabric::LinkType;
using Bytes = std::vector<std::uint8_t>;

class LinkLayer : public testing::Test {
 protected:
  LinkLayer() {
    packet_.dest_qp = 77;
    packet_.address.dst_gid = hw::gid_of_ipv4(std::array<std::uint8_t, 4>{10, 0, 0, 2});
    packet_.resize_payload(8)[0] = 1;
    ethernet_.resize(fabric::kMaxFrameBytes);
    ethernet_.resize(fabric::encode_frame(packet_, ethernet_));
  }

  /// `header`, then the frame from its byte `from` on.
  Bytes behind(Bytes header, std::size_t from) const {
    header.insert(header.end(), ethernet_.begin() + static_cast<std::ptrdiff_t>(from),
                  ethernet_.end());
    return header;
  }
  IcrcStatus icrc(LinkType type, const Bytes& frame) {
    const auto result = decode_captured(type, frame, packet_);
    EXPECT_TRUE(result.is_roce()) << describe(result.status);
    EXPECT_EQ(packet_.dest_qp, 77u);
    return result.icrc;
  }

  fabric::Packet packet_;
  Bytes ethernet_;
};

TEST_F(LinkLayer, Ethernet) {
  EXPECT_EQ(icrc(LinkType::kEthernet, ethernet_), IcrcStatus::kOk);
}

TEST_F(LinkLayer, LinuxCooked) {
  Bytes header(16);
  header[14] = 8;
  EXPECT_EQ(icrc(LinkType::kLinuxCooked, behind(header, 14)), IcrcStatus::kOk);
}

TEST_F(LinkLayer, LinuxCooked2) {
  Bytes header(20);
  header[0] = 8;
  EXPECT_EQ(icrc(LinkType::kLinuxCooked2, behind(header, 14)), IcrcStatus::kOk);
}

TEST_F(LinkLayer, ErfWithExtensionHeaders) {
  Bytes header(16 + 8 + 8 + 2);
  header[8] = 0x82;   // Ethernet, more headers
  header[16] = 0x83;  // more
  header[24] = 0x04;  // the last
  EXPECT_EQ(icrc(LinkType::kErf, behind(header, 0)), IcrcStatus::kOk);
  header.resize(20);
  EXPECT_EQ(decode_captured(LinkType::kErf, header, packet_).status, DecodeStatus::kCutHeader);
}

TEST_F(LinkLayer, ErfOfAnotherTypeIsNoPacket) {
  Bytes header(18);
  header[8] = 1;
  EXPECT_EQ(decode_captured(LinkType::kErf, behind(header, 0), packet_).status,
            DecodeStatus::kOtherProtocol);
}

TEST_F(LinkLayer, CutHeadersAreNamed) {
  for (const LinkType type :
       {LinkType::kEthernet, LinkType::kLinuxCooked, LinkType::kLinuxCooked2, LinkType::kErf}) {
    EXPECT_TRUE(link_type_known(type));
    EXPECT_EQ(decode_captured(type, Bytes(10), packet_).status, DecodeStatus::kCutHeader);
  }
  EXPECT_FALSE(link_type_known(static_cast<LinkType>(105)));
}

}  // namespace
}  // namespace hcasim::sim
