// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Datagrams: sent to wherever the work request says, received with the header they came with.

#include <algorithm>

#include "conformance/rc/connection.hpp"
#include "hcasim/hw/wire/ip.hpp"

namespace hcasim::testing {
namespace {

using Op = hw::BthOpcode;

constexpr std::uint32_t kQkey = AdapterBench::kQkey;

hw::AddressVector path(std::uint8_t last) {
  const std::array<std::uint8_t, 4> own{10, 0, 0, 1};
  const std::array<std::uint8_t, 4> peer{10, 0, 0, last};
  hw::AddressVector av{};
  av.sgid = hw::gid_of_ipv4(own);
  av.dgid = hw::gid_of_ipv4(peer);
  av.smac = {2, 0, 0, 0, 0, 1};
  av.dmac = {2, 0, 0, 0, 0, last};
  av.udp_sport = 0xc123;
  av.traffic_class = 0x20;
  av.hop_limit = 7;
  av.port = 1;
  return av;
}

class Datagrams : public ::testing::Test {
 protected:
  SendWr to(std::uint8_t last, std::uint32_t qpn, std::size_t bytes = 16,
            hw::WrOpcode opcode = hw::WrOpcode::kSend) {
    SendWr wr = c_.inline_wr(opcode, bytes);
    wr.datagram = {path(last), qpn, kQkey, 0};
    return wr;
  }
  PeerPacket from(std::uint32_t qpn, std::size_t bytes, Op opcode = Op::kUdSendOnly,
                  std::uint32_t qkey = kQkey) {
    PeerPacket packet = c_.send(0, bytes, opcode);
    const hw::AddressVector av = path(9);
    packet.headers.qkey = qkey;
    packet.headers.src_qp = qpn;
    packet.headers.address.src_gid = av.dgid;
    packet.headers.address.dst_gid = av.sgid;
    return packet;
  }
  std::uint64_t count(const std::string& name) const { return c_.count("responder", name); }

  Connection c_{AdapterBench::ud_context()};
};

TEST_F(Datagrams, B47_GoWhereTheirWorkRequestSays) {
  c_.post(to(5, 0x77));
  c_.post(to(6, 0x88, 0, hw::WrOpcode::kSendWithImm));
  const auto sent = c_.sent();
  ASSERT_EQ(opcodes(sent), (Opcodes{Op::kUdSendOnly, Op::kUdSendOnlyImm}));
  EXPECT_EQ(psns(sent), (Psns{100, 101}));
  EXPECT_EQ(sent[0].headers.dest_qp, 0x77u);
  EXPECT_EQ(sent[1].headers.dest_qp, 0x88u);
  EXPECT_EQ(sent[0].headers.src_qp, c_.qp.qpn());
  EXPECT_EQ(sent[0].headers.qkey, kQkey);
  EXPECT_FALSE(sent[0].headers.ack_req);
  const fabric::Addressing& address = sent[1].headers.address;
  EXPECT_EQ(address.dst_gid, path(6).dgid);
  EXPECT_EQ(address.dst_mac, path(6).dmac);
  EXPECT_EQ(address.src_mac, path(6).smac);
  EXPECT_EQ(address.udp_src_port, 0xc123);
  EXPECT_EQ(address.traffic_class, 0x20);
  EXPECT_EQ(address.hop_limit, 7);
  EXPECT_EQ(statuses(c_.sends()), (Statuses{hw::WcStatus::kSuccess, hw::WcStatus::kSuccess}));
}

TEST_F(Datagrams, GatherTheirPayload) {
  c_.bench.fill(c_.area, pattern(1024, 3));
  SendWr wr = to(5, 0x77);
  wr.inline_data.clear();
  wr.sges = {{c_.area, 1000, c_.key}, {c_.area + 1000, 24, c_.key}};
  c_.post(wr);
  const auto sent = c_.sent();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].payload, pattern(1024, 3));
}

// A Q_Key with the top bit set stands for that of the queue pair.
TEST_F(Datagrams, AControlledQkeyIsTheQueuePairsOwn) {
  SendWr wr = to(5, 0x77);
  wr.datagram.remote_qkey = 0x8000'0000;
  c_.post(wr);
  EXPECT_EQ(c_.sent().at(0).headers.qkey, kQkey);
}

TEST_F(Datagrams, LongerThanTheMtuAreALengthError) {
  c_.bench.post_send(c_.qp, to(5, 0x77));
  SendWr wr = to(5, 0x77);
  wr.inline_data.clear();
  wr.sges = {{c_.area, 1025, c_.key}};
  c_.bench.post_send(c_.qp, wr);
  c_.post(to(5, 0x77));
  EXPECT_EQ(statuses(c_.sends()), (Statuses{hw::WcStatus::kSuccess, hw::WcStatus::kLocLenErr,
                                            hw::WcStatus::kWrFlushErr}));
  EXPECT_EQ(c_.sent().size(), 1u);
  EXPECT_EQ(c_.state(), hw::QpState::kSqe);
  ASSERT_EQ(c_.bench.modify(c_.qp, hw::QpState::kRts), hw::CommandStatus::kOk);
  c_.post(to(5, 0x77));
  EXPECT_EQ(psns(c_.sent()), Psns{101});
}

TEST_F(Datagrams, OperationsThatTheyDoNotHave) {
  for (const auto opcode :
       {hw::WrOpcode::kRdmaWrite, hw::WrOpcode::kRdmaWriteWithImm, hw::WrOpcode::kRdmaRead,
        hw::WrOpcode::kAtomicFetchAndAdd, hw::WrOpcode::kSendWithInv, hw::WrOpcode::kLocalInv}) {
    Connection c(AdapterBench::ud_context());
    c.post(c.gather_wr(opcode, 8));
    EXPECT_EQ(statuses(c.sends()), Statuses{hw::WcStatus::kLocQpOpErr});
    EXPECT_TRUE(c.sent().empty());
  }
}

TEST_F(Datagrams, ArriveBehindTheHeaderTheyCameWith) {
  c_.post_receives(1);
  PeerPacket packet = from(0x123, 100, Op::kUdSendOnlyImm);
  packet.headers.imm.value = 0xabcd;
  c_.arrive_and_settle(packet);
  const auto done = c_.receives();
  ASSERT_EQ(statuses(done), Statuses{hw::WcStatus::kSuccess});
  EXPECT_EQ(done[0].opcode, hw::WcOpcode::kRecv);
  EXPECT_EQ(done[0].byte_len, 140u);
  EXPECT_EQ(done[0].src_qp, 0x123u);
  EXPECT_EQ(done[0].flags, hw::kCqeGrh | hw::kCqeWithImm);
  EXPECT_EQ(done[0].imm_or_key, 0xabcdu);
  EXPECT_EQ(c_.bench.bytes(c_.area + 40, 100), pattern(100));
  const auto area = c_.bench.bytes(c_.area, 40);
  EXPECT_TRUE(std::all_of(area.begin(), area.begin() + 20, [](auto byte) { return byte == 0; }));
  const std::span<const std::uint8_t, 20> header(area.data() + 20, 20);
  const auto ip = hw::Ipv4::decode(header);
  EXPECT_EQ(area[20], 0x45);
  EXPECT_EQ(ip.src, (std::array<std::uint8_t, 4>{10, 0, 0, 9}));
  EXPECT_EQ(ip.dst, (std::array<std::uint8_t, 4>{10, 0, 0, 1}));
  EXPECT_EQ(ip.total_length, 20 + 8 + 12 + 8 + 4 + 100 + 4);
  EXPECT_EQ(hw::internet_checksum(header), 0);
}

TEST_F(Datagrams, OverIpv6TheAreaIsTheHeader) {
  c_.post_receives(1);
  PeerPacket packet = from(0x123, 8);
  packet.headers.address.src_gid = {0xfe, 0x80, 1};
  packet.headers.address.dst_gid = {0xfe, 0x80, 2};
  c_.arrive_and_settle(packet);
  const auto area = c_.bench.bytes(c_.area, 40);
  const auto ip = hw::Ipv6::decode(std::span<const std::uint8_t, 40>(area.data(), 40));
  EXPECT_EQ(ip.version, 6);
  EXPECT_EQ(ip.next_header, hw::kIpProtocolUdp);
  EXPECT_EQ(ip.src, packet.headers.address.src_gid);
  EXPECT_EQ(c_.receives().at(0).flags, hw::kCqeGrh);
}

TEST_F(Datagrams, ComeInAnyOrderFromAnyone) {
  c_.post_receives(3);
  for (const std::uint32_t psn : {900u, 3u, 3u}) {
    PeerPacket packet = from(0x100 + psn, 8);
    packet.headers.psn = psn;
    c_.arrive(packet);
  }
  c_.settle();
  const auto done = c_.receives();
  ASSERT_EQ(done.size(), 3u);
  EXPECT_EQ(done[0].src_qp, 0x100u + 900);
  EXPECT_EQ(done[2].src_qp, 0x103u);
  EXPECT_EQ(count("out_of_sequence"), 0u);
}

TEST_F(Datagrams, B01_WithoutReceiveAreDropped) {
  c_.arrive(from(1, 8));
  c_.arrive_and_settle(from(1, 8));
  c_.post_receives(1);
  c_.arrive_and_settle(from(2, 8));
  EXPECT_EQ(c_.receives().at(0).src_qp, 2u);
  EXPECT_EQ(count("out_of_buffer"), 2u);
  EXPECT_TRUE(c_.sent().empty());
}

TEST_F(Datagrams, B31_TooLongForItsReceiveIsDroppedAndTheReceiveServesTheNext) {
  c_.post_receives(1, 140);
  c_.arrive_and_settle(from(1, 101));
  c_.arrive_and_settle(from(1, 200));
  EXPECT_TRUE(c_.receives().empty());
  EXPECT_EQ(c_.state(), hw::QpState::kRts);
  c_.arrive_and_settle(from(1, 100));
  EXPECT_EQ(c_.receives().at(0).byte_len, 140u);
  EXPECT_EQ(count("resp_local_length_error"), 2u);
  EXPECT_EQ(c_.count("receive_queue", "takes_ok"), 1u);
}

TEST_F(Datagrams, NeedTheRightKeys) {
  c_.post_receives(1);
  c_.arrive_and_settle(from(1, 8, Op::kUdSendOnly, kQkey + 1));
  EXPECT_EQ(count("qkey_violations"), 1u);
  PeerPacket foreign = from(1, 8);
  foreign.headers.pkey = 0x8123;
  c_.arrive_and_settle(foreign);
  EXPECT_EQ(count("pkey_violations"), 1u);
  EXPECT_EQ(count("n_pkt_drops"), 2u);
  EXPECT_TRUE(c_.receives().empty());
  EXPECT_EQ(c_.count("receive_queue", "takes_ok"), 0u);
}

TEST_F(Datagrams, OfAnotherServiceOrAboveTheMtuAreDropped) {
  c_.post_receives(1, 4096);
  c_.arrive_and_settle(from(1, 8, Op::kUcSendOnly));
  c_.arrive_and_settle(from(1, 8, static_cast<Op>(0x6a)));  // no WRITE on UD
  c_.arrive_and_settle(from(1, 1025));
  EXPECT_TRUE(c_.receives().empty());
  EXPECT_EQ(count("n_pkt_drops"), 3u);
  c_.arrive_and_settle(from(1, 1024));
  EXPECT_EQ(c_.receives().at(0).byte_len, 1064u);
}

TEST_F(Datagrams, ABadLocalKeyEndsTheQueuePair) {
  c_.bench.post_recv(c_.qp, 5, {{c_.area, 512, c_.key + 50}});
  c_.bench.ring_recv(c_.qp);
  c_.settle();
  c_.arrive_and_settle(from(1, 8));
  EXPECT_EQ(statuses(c_.receives()), Statuses{hw::WcStatus::kLocProtErr});
  EXPECT_EQ(c_.state(), hw::QpState::kErr);
}

TEST_F(Datagrams, AreScatteredOverElements) {
  c_.bench.post_recv(
      c_.qp, 1, {{c_.area, 10, c_.key}, {c_.area + 100, 35, c_.key}, {c_.area + 200, 95, c_.key}});
  c_.bench.ring_recv(c_.qp);
  c_.settle();
  c_.arrive_and_settle(from(1, 100));
  const auto data = pattern(100);
  EXPECT_EQ(c_.bench.bytes(c_.area + 130, 5), std::vector(data.begin(), data.begin() + 5));
  EXPECT_EQ(c_.bench.bytes(c_.area + 200, 95), std::vector(data.begin() + 5, data.end()));
}

TEST_F(Datagrams, EstablishNothing) {
  BenchQp qp = c_.bench.create_qp(AdapterBench::ud_context(), hw::QpState::kRtr);
  c_.bench.events();
  c_.bench.arrive(qp, from(1, 8));
  c_.settle();
  EXPECT_TRUE(c_.bench.events(hw::EqeType::kCommEst).empty());
}

}  // namespace
}  // namespace hcasim::testing
