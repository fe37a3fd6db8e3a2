// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What the set-up of a connection tells that its traffic does not.
#include "sim/import/connection_setup.hpp"

#include <gtest/gtest.h>

#include "made_capture.hpp"
#include "support/samples.hpp"

namespace hcasim::sim {
namespace {

using hw::BthOpcode;

class SetupSeen : public MadeCapture {
 protected:
  void datagram(int from, std::uint16_t attribute, std::uint32_t remote_id, std::size_t qpn_at,
                std::uint32_t qpn) {
    send(from, BthOpcode::kUdSendOnly, 1, 0, 256, [=](fabric::Packet& packet) {
      const auto data = packet.payload();
      std::ranges::fill(data, std::uint8_t{0});
      data[1] = 7;
      hw::store_be(&data[16], attribute);
      hw::store_be(&data[24], std::uint32_t{500} + qpn);
      hw::store_be(&data[28], remote_id);
      hw::store_be24(&data[qpn_at], qpn);
    });
  }
  /// Node 1 connects its queue pair `active` to `passive` of node 2.
  void connect(std::uint32_t active, std::uint32_t passive) {
    datagram(1, 0x10, 0, 56, active);
    datagram(2, 0x13, 500 + active, 36, passive);
  }
};

TEST_F(SetupSeen, OneWayUcHasBothEnds) {
  connect(21, 22);
  send(1, BthOpcode::kUcSendOnly, 22, 0, 8);
  const CaptureAnalysis found = analyse();
  ASSERT_EQ(found.records.size(), 1u);
  EXPECT_TRUE(found.records[0].requester_qpn_known);
  EXPECT_EQ(found.records[0].requester, (Endpoint{node(1), 21}));
  EXPECT_EQ(found.management, 2u);
}

TEST_F(SetupSeen, TellsApartWhatTrafficDoesNot) {
  connect(21, 31);
  connect(22, 32);
  // The answers come in such an order that they look exchanged.
  send(1, BthOpcode::kRcSendOnly, 31, 0, 8);
  send(1, BthOpcode::kRcSendOnly, 32, 0, 8);
  answer(2, 22, 0);
  answer(2, 21, 0);
  const CaptureAnalysis found = analyse();
  ASSERT_EQ(found.records.size(), 2u);
  EXPECT_EQ(found.records[0].requester.qpn, 21u);
  EXPECT_EQ(found.records[0].completed, 7 * hw::kMicrosecond);
  EXPECT_EQ(found.records[1].requester.qpn, 22u);
}

TEST_F(SetupSeen, ContradictionsTellNothing) {
  connect(21, 22);
  connect(25, 22);
  send(1, BthOpcode::kUcSendOnly, 22, 0, 8);
  EXPECT_FALSE(analyse().records[0].requester_qpn_known);
}

TEST(ConnectionSetup, ReadsWhatAStockDriverSent) {
  const auto file = support::rxe_capture("rping.pcap");
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file;
  fabric::CaptureReader reader(file);
  fabric::CapturedFrame frame;
  const auto packet = std::make_unique<fabric::Packet>();
  ConnectionSetup setup;
  while (reader.next(frame)) {
    const auto result = fabric::decode_frame(frame.bytes, *packet);
    if (packet->dest_qp == 1) setup.take(*packet, result.payload_captured);
  }
  ASSERT_EQ(setup.pairs().size(), 1u);
  EXPECT_EQ(setup.pairs()[0].active.qpn, 0x26u);
  EXPECT_EQ(setup.pairs()[0].passive.qpn, 0x26u);
  EXPECT_EQ(setup.pairs()[0].active.address[15], 2);
  EXPECT_EQ(setup.pairs()[0].passive.address[15], 1);
}

}  // namespace
}  // namespace hcasim::sim
