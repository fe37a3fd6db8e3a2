// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Datagrams to a group: each attached queue pair gets a copy, those of the sender's adapter too.

#include "hcasim/hw/wire/multicast.hpp"
#include "conformance/rc/connection.hpp"

namespace hcasim::testing {
namespace {

using Op = hw::BthOpcode;

constexpr std::uint32_t kBytes = 64;
constexpr std::uint32_t kAll = hw::kGrhAreaBytes + kBytes;

hw::Gid group(std::uint8_t last) {
  hw::Gid gid{};
  gid[0] = 0xff;
  gid[1] = 0x0e;
  gid[15] = last;
  return gid;
}

BenchOptions few() {
  BenchOptions options;
  options.parameters.device.max_mcast_grp = 2;
  options.parameters.device.max_mcast_qp_attach = 2;
  return options;
}

/// Two queue pairs of one adapter, each with an area of its own.
class Multicast : public ::testing::Test {
 protected:
  hw::CommandStatus attach(const BenchQp& qp, std::uint8_t last) {
    return c_.bench.command(hw::CommandOpcode::kAttachMcast, qp.qpn(), hw::McastGroup{group(last)});
  }
  hw::CommandStatus detach(const BenchQp& qp, std::uint8_t last) {
    return c_.bench.command(hw::CommandOpcode::kDetachMcast, qp.qpn(), hw::McastGroup{group(last)});
  }
  void receive(BenchQp& qp, std::uint64_t wr_id) {
    c_.bench.receive(qp, wr_id, {{c_.area + 1024 * wr_id, kAll, c_.key}});
    c_.settle();
  }
  PeerPacket datagram(std::uint8_t last, Op opcode = Op::kUdSendOnly) const {
    PeerPacket packet = c_.send(0, kBytes, opcode);
    packet.headers.dest_qp = hw::kMulticastQpn;
    packet.headers.qkey = AdapterBench::kQkey;
    packet.headers.src_qp = 0x99;
    packet.headers.address.dst_gid = group(last);
    return packet;
  }
  // The bench addresses packets to a queue pair, here to one that stands for all.
  void arrive(const PeerPacket& packet) {
    BenchQp all = c_.qp;
    all.context.qpn = hw::kMulticastQpn;
    c_.bench.arrive(all, packet);
    c_.settle();
  }
  std::vector<std::uint64_t> received(BenchQp& qp) {
    std::vector<std::uint64_t> ids;
    for (const hw::Cqe& cqe : c_.bench.poll(qp.recv_cq)) {
      EXPECT_EQ(cqe.status, hw::WcStatus::kSuccess);
      EXPECT_EQ(cqe.qpn, qp.qpn());
      EXPECT_EQ(cqe.byte_len, kAll);
      EXPECT_EQ(c_.bench.bytes(c_.area + 1024 * cqe.wr_id + hw::kGrhAreaBytes, kBytes),
                pattern(kBytes));
      ids.push_back(cqe.wr_id);
    }
    return ids;
  }
  SendWr to_group(std::uint8_t last, bool inline_data) {
    SendWr wr = inline_data ? c_.inline_wr(hw::WrOpcode::kSend, kBytes)
                            : c_.gather_wr(hw::WrOpcode::kSend, kBytes, 8192);
    c_.bench.fill(c_.area + 8192, pattern(kBytes));
    wr.datagram.av.dgid = group(last);
    wr.datagram.av.dmac = hw::multicast_mac(group(last));
    wr.datagram.remote_qpn = hw::kMulticastQpn;
    wr.datagram.remote_qkey = AdapterBench::kQkey;
    return wr;
  }
  std::uint64_t count(const std::string& name) const { return c_.count("responder", name); }

  using Ids = std::vector<std::uint64_t>;

  Connection c_{AdapterBench::ud_context(), few()};
  BenchQp other_ = c_.bench.create_qp(AdapterBench::ud_context());
};

TEST_F(Multicast, EachMemberGetsACopy) {
  ASSERT_EQ(attach(c_.qp, 1), hw::CommandStatus::kOk);
  ASSERT_EQ(attach(other_, 1), hw::CommandStatus::kOk);
  receive(c_.qp, 0);
  receive(other_, 1);
  arrive(datagram(1));
  EXPECT_EQ(received(c_.qp), Ids{0});
  EXPECT_EQ(received(other_), Ids{1});
  EXPECT_EQ(count("n_pkt_drops"), 0u);
}

TEST_F(Multicast, AMemberWithoutReceiveGetsNothing) {
  ASSERT_EQ(attach(c_.qp, 1), hw::CommandStatus::kOk);
  ASSERT_EQ(attach(other_, 1), hw::CommandStatus::kOk);
  receive(other_, 1);
  arrive(datagram(1));
  EXPECT_EQ(received(c_.qp), Ids{});
  EXPECT_EQ(received(other_), Ids{1});
  EXPECT_EQ(count("out_of_buffer"), 1u);
}

TEST_F(Multicast, WhatIsForNobodyHereIsDropped) {
  ASSERT_EQ(attach(c_.qp, 1), hw::CommandStatus::kOk);
  receive(c_.qp, 0);
  arrive(datagram(2));
  arrive(datagram(1, Op::kUcSendOnly));
  PeerPacket wrong = datagram(1);
  wrong.headers.qkey = 7;
  arrive(wrong);
  EXPECT_EQ(count("n_pkt_drops"), 3u);
  ASSERT_EQ(detach(c_.qp, 1), hw::CommandStatus::kOk);
  arrive(datagram(1));
  EXPECT_EQ(count("n_pkt_drops"), 4u);
  EXPECT_EQ(received(c_.qp), Ids{});
}

// Its own copy as well: nothing asks the adapter to hold that back.
TEST_F(Multicast, TheSendersAdapterGetsItToo) {
  ASSERT_EQ(attach(c_.qp, 1), hw::CommandStatus::kOk);
  ASSERT_EQ(attach(other_, 1), hw::CommandStatus::kOk);
  for (const bool inline_data : {true, false}) {
    receive(c_.qp, 0);
    receive(other_, 1);
    c_.post(to_group(1, inline_data));
    EXPECT_EQ(received(c_.qp), Ids{0});
    EXPECT_EQ(received(other_), Ids{1});
    const auto sent = c_.sent();
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_EQ(sent[0].headers.dest_qp, hw::kMulticastQpn);
    EXPECT_EQ(sent[0].payload, pattern(kBytes));
    EXPECT_EQ(statuses(c_.sends()), Statuses{hw::WcStatus::kSuccess});
  }
}

TEST_F(Multicast, WithoutMembersAtHomeItOnlyLeaves) {
  c_.post(to_group(1, false));
  EXPECT_EQ(c_.sent().size(), 1u);
  EXPECT_EQ(statuses(c_.sends()), Statuses{hw::WcStatus::kSuccess});
  EXPECT_EQ(count("n_pkt_drops"), 0u);
}

TEST_F(Multicast, TheTableIsAsLargeAsItSays) {
  const BenchQp third = c_.bench.create_qp(AdapterBench::ud_context());
  EXPECT_EQ(attach(c_.qp, 1), hw::CommandStatus::kOk);
  EXPECT_EQ(attach(c_.qp, 1), hw::CommandStatus::kBadObject);
  EXPECT_EQ(attach(other_, 1), hw::CommandStatus::kOk);
  EXPECT_EQ(attach(third, 1), hw::CommandStatus::kNoResources);
  EXPECT_EQ(attach(third, 2), hw::CommandStatus::kOk);
  EXPECT_EQ(attach(third, 3), hw::CommandStatus::kNoResources);
  EXPECT_EQ(detach(third, 1), hw::CommandStatus::kBadObject);
  EXPECT_EQ(detach(third, 3), hw::CommandStatus::kBadObject);
  EXPECT_EQ(c_.bench.issue(hw::CommandOpcode::kDestroyQp, third.qpn()).status,
            hw::CommandStatus::kOk);
  EXPECT_EQ(attach(c_.qp, 3), hw::CommandStatus::kOk);  // its group is gone with it
  EXPECT_EQ(attach(third, 3), hw::CommandStatus::kBadObject);
  const BenchQp reliable = c_.bench.create_qp();
  EXPECT_EQ(attach(reliable, 3), hw::CommandStatus::kBadParameter);
}

}  // namespace
}  // namespace hcasim::testing
