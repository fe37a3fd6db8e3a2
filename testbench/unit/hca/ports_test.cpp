// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// An adapter with two ports: each sends on its own, and hears for its own queue pairs only.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "hcasim/hw/wire/multicast.hpp"
#include "timing.hpp"

namespace hcasim::testing {
namespace {

BenchOptions with_ports(std::uint32_t ports, Time byte_time = 0, Time lead = hw::kSecond) {
  BenchOptions options{.byte_time = byte_time, .port_lead = lead};
  options.parameters.ports = ports;
  return options;
}

/// The bench has the first port; this has the second one.
struct TwoPorts {
  explicit TwoPorts(Time first_byte_time = 0, Time lead = hw::kSecond)
      : bench(with_ports(2, first_byte_time, lead)), second(bench.engine, 0) {
    bench.adapter().set_port(second, lead, 1);
    second.set_observer(&observer);
  }

  static hw::QpContext bound(hw::QpContext context, std::uint8_t port) {
    context.port = port;
    return context;
  }
  BenchQp qp(std::uint8_t port) { return bench.create_qp(bound(AdapterBench::rc_context(), port)); }

  /// A packet of the peer comes in at a port, counted from 1.
  void arrives(const BenchQp& to, const PeerPacket& what, std::uint32_t port) {
    fabric::PacketPtr packet = bench.packets.acquire();
    packet->set_headers(what.headers);
    packet->dest_qp = to.qpn();
    packet->src_qp = to.context.remote_qpn;
    std::ranges::copy(what.payload, packet->resize_payload(what.payload.size()).begin());
    if (port == to.context.port) bench.rules.arrived(0, *packet, bench.now());
    bench.adapter().packet_sink(port - 1).on_packet(std::move(packet));
  }

  // The rules hold for a queue pair, whatever its port.
  struct Observer final : fabric::PacketObserver {
    explicit Observer(AdapterBench& of) : bench(of) {}
    void on_sent(const fabric::Packet& packet, Time start) override {
      bench.rules.sent(0, packet, start);
    }
    AdapterBench& bench;
  };

  AdapterBench bench;
  ScriptedPort second;
  Observer observer{bench};
};

constexpr Time kSlow = hw::kMicrosecond;  // a byte: a port that is as good as stuck
constexpr Time kLittleLead = 10 * hw::kNanosecond;

TEST(Ports, EachQueuePairSendsByItsOwn) {
  TwoPorts it;
  BenchQp first = it.qp(1);
  BenchQp other = it.qp(2);
  it.bench.send(first, inline_write(16));
  it.bench.send(other, inline_write(32));
  it.bench.run_for(10 * hw::kMicrosecond);
  ASSERT_EQ(it.bench.port.sent.size(), 1u);
  ASSERT_EQ(it.second.sent.size(), 1u);
  EXPECT_EQ(it.bench.port.sent[0].payload.size(), 16u);
  EXPECT_EQ(it.second.sent[0].payload.size(), 32u);
}

TEST(Ports, AQueuePairCannotBeBoundToAPortThatIsNotThere) {
  TwoPorts it;
  BenchQp qp = it.bench.create_qp(AdapterBench::rc_context(), hw::QpState::kReset);
  qp.context.port = 3;
  EXPECT_EQ(it.bench.modify(qp, hw::QpState::kInit), hw::CommandStatus::kBadParameter);
}

// When the packet of the second port leaves, beside what the first one has to send.
Time departure_beside(std::size_t messages_of_first, bool gathered) {
  TwoPorts it(kSlow, kLittleLead);
  BenchQp first = it.qp(1);
  BenchQp other = it.qp(2);
  const std::uint64_t memory = it.bench.allocate(4096, 4096);
  const std::uint32_t key = it.bench.create_mr(memory, 4096);
  SendWr wr = inline_write(16);
  if (gathered) {
    wr.inline_data.clear();
    wr.sges = {{memory, 256, key}};
  }
  quiet_start(it.bench);
  for (std::size_t i = 0; i < messages_of_first; ++i) it.bench.send(first, wr);
  it.bench.run_for(20 * hw::kMicrosecond);  // the first one's port is full by now
  const Time start = it.bench.now();
  it.bench.send(other, wr);
  it.bench.run_for(20 * hw::kMicrosecond);
  EXPECT_EQ(it.bench.port.free_at() > it.bench.now(), messages_of_first != 0);
  EXPECT_EQ(it.second.sent.size(), 1u);
  return it.second.sent.empty() ? 0 : it.second.sent[0].at - start;
}

TEST(Ports, OneThatIsBusyHoldsUpNoOther) {
  for (const bool gathered : {false, true}) {
    const Time alone = departure_beside(0, gathered);
    EXPECT_GT(alone, 0);
    EXPECT_EQ(departure_beside(8, gathered), alone) << "gathered: " << gathered;
  }
}

// READ responses wait for the slow port; the ACK of the other one does not.
Time answer_beside(std::uint32_t read_bytes) {
  TwoPorts it(kSlow, kLittleLead);
  BenchQp first = it.qp(1);
  BenchQp other = it.qp(2);
  const std::uint64_t memory = it.bench.allocate(65536, 4096);
  const std::uint32_t key = it.bench.create_mr(memory, 65536);
  quiet_start(it.bench);
  if (read_bytes != 0) {
    it.arrives(first, read_request(first.context.rq_psn, memory, key, read_bytes), 1);
  }
  it.bench.run_for(20 * hw::kMicrosecond);
  const Time start = it.bench.now();
  it.arrives(other, write_only(other.context.rq_psn, memory, key, 16), 2);
  it.bench.run_for(20 * hw::kMicrosecond);
  EXPECT_EQ(it.bench.port.free_at() > it.bench.now(), read_bytes != 0);
  EXPECT_EQ(it.second.sent.size(), 1u);
  return it.second.sent.empty() ? 0 : it.second.sent[0].at - start;
}

TEST(Ports, AnswersLeaveByTheQueuePairsPortAndWaitForNoOther) {
  const Time alone = answer_beside(0);
  EXPECT_GT(alone, 0);
  EXPECT_EQ(answer_beside(32768), alone);
}

// The port takes the next packet when all but its lead has left: at the first clock edge for which
// that is so the scheduler's turn begins.
TEST(Ports, PacketsOfABusyPortFollowEachOtherAsWithOnePort) {
  constexpr Time kByte = 80;
  std::vector<Time> times[2];
  for (const std::uint32_t ports : {1u, 2u}) {
    AdapterBench bench(with_ports(ports, kByte, kLittleLead));
    ScriptedPort second(bench.engine, 0);
    if (ports == 2) bench.adapter().set_port(second, kLittleLead, 1);
    BenchQp one = bench.create_qp();
    BenchQp two = bench.create_qp();
    const Time start = quiet_start(bench);
    for (int i = 0; i < 20; ++i) {
      bench.send(one, inline_write(60));
      bench.send(two, inline_write(7));
    }
    bench.run_for(20 * hw::kMicrosecond);
    for (const SentPacket& packet : bench.port.sent) times[ports - 1].push_back(packet.at - start);
  }
  EXPECT_EQ(times[0].size(), 40u);
  EXPECT_EQ(times[1], times[0]);
}

TEST(Ports, WhatComesInAtAnotherPortIsForNone) {
  TwoPorts it;
  BenchQp qp = it.qp(2);
  const std::uint64_t memory = it.bench.allocate(4096, 4096);
  const std::uint32_t key = it.bench.create_mr(memory, 4096);
  const PeerPacket write = write_only(qp.context.rq_psn, memory, key, 16);
  it.arrives(qp, write, 1);
  it.bench.run_for(10 * hw::kMicrosecond);
  EXPECT_EQ(it.bench.counter("responder", "n_pkt_drops"), 1u);
  EXPECT_EQ(it.bench.bytes(memory, 16), std::vector<std::uint8_t>(16, 0));
  EXPECT_TRUE(it.second.sent.empty());
  it.arrives(qp, write, 2);
  it.bench.run_for(10 * hw::kMicrosecond);
  EXPECT_EQ(it.bench.counter("responder", "n_pkt_drops"), 1u);
  EXPECT_EQ(it.bench.bytes(memory, 16), pattern(16));
  EXPECT_EQ(opcodes(it.second.sent), std::vector{hw::BthOpcode::kRcAcknowledge});
  EXPECT_TRUE(it.bench.port.sent.empty());
}

SendWr datagram(std::uint8_t port) {
  SendWr wr = inline_send(16);
  wr.datagram.av.port = port;
  wr.datagram.remote_qpn = AdapterBench::kPeerQpn;
  wr.datagram.remote_qkey = AdapterBench::kQkey;
  return wr;
}

TEST(Ports, ADatagramLeavesByThePortOfItsAddressAndCompletesInOrder) {
  constexpr Time kByte = 10 * hw::kNanosecond;
  TwoPorts it(kByte);
  BenchQp qp = it.bench.create_qp(TwoPorts::bound(AdapterBench::ud_context(), 1));
  for (const std::uint8_t port : {1, 2, 2, 1}) it.bench.post_send(qp, datagram(port));
  it.bench.ring_send(qp);
  it.bench.run_for(20 * hw::kMicrosecond);
  EXPECT_EQ(psns(it.bench.port.sent), (std::vector<std::uint32_t>{100, 103}));
  EXPECT_EQ(psns(it.second.sent), (std::vector<std::uint32_t>{101, 102}));
  // Of a later one no bit leaves before the last one of an earlier one has, at the other port.
  const SentPacket& first = it.bench.port.sent.at(0);
  const auto bytes = static_cast<Time>(14 + 20 + 8 + 12 + 8 + 16 + 4 + 4 + 8 + 12);
  EXPECT_GE(it.second.sent.at(0).at, first.first_bit + bytes * kByte);
  const auto done = it.bench.poll(qp.send_cq);
  ASSERT_EQ(done.size(), 4u);
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(done[i].wqe_index, i);
}

TEST(Ports, AnAddressWithAPortThatIsNotThereFails) {
  TwoPorts it;
  BenchQp qp = it.bench.create_qp(TwoPorts::bound(AdapterBench::ud_context(), 1));
  it.bench.send(qp, datagram(3));
  it.bench.run_for(20 * hw::kMicrosecond);
  EXPECT_EQ(statuses(it.bench.poll(qp.send_cq)), std::vector{hw::WcStatus::kLocQpOpErr});
}

// The sender's own port hears what it sends to a group; its other port does so from the wire only.
TEST(Ports, AGroupIsHeardAtThePort) {
  TwoPorts it;
  const hw::McastGroup group{{0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 224, 0, 0, 7}};
  BenchQp sender = it.bench.create_qp(TwoPorts::bound(AdapterBench::ud_context(), 2));
  BenchQp near = it.bench.create_qp(TwoPorts::bound(AdapterBench::ud_context(), 2));
  BenchQp far = it.bench.create_qp(TwoPorts::bound(AdapterBench::ud_context(), 1));
  const std::uint64_t memory = it.bench.allocate(4096, 4096);
  const std::uint32_t key = it.bench.create_mr(memory, 4096);
  for (BenchQp* qp : {&near, &far}) {
    EXPECT_EQ(it.bench.command(hw::CommandOpcode::kAttachMcast, qp->qpn(), group),
              hw::CommandStatus::kOk);
    it.bench.receive(*qp, 1, {{memory, 256, key}});
  }
  SendWr wr = datagram(2);
  wr.datagram.av.dgid = group.gid;
  wr.datagram.remote_qpn = hw::kMulticastQpn;
  it.bench.send(sender, wr);
  it.bench.run_for(20 * hw::kMicrosecond);
  EXPECT_EQ(it.bench.poll(near.recv_cq).size(), 1u);
  EXPECT_EQ(it.bench.poll(far.recv_cq).size(), 0u);
  ASSERT_EQ(it.second.sent.size(), 1u);
  PeerPacket copy{it.second.sent[0].headers, it.second.sent[0].payload};
  BenchQp all = far;
  all.context.qpn = hw::kMulticastQpn;
  it.arrives(all, copy, 1);
  it.bench.run_for(20 * hw::kMicrosecond);
  EXPECT_EQ(it.bench.poll(near.recv_cq).size(), 0u);
  EXPECT_EQ(it.bench.poll(far.recv_cq).size(), 1u);
}

TEST(Ports, StateIsReportedByEventsAndToldWhenAsked) {
  TwoPorts it;
  it.bench.adapter().link_changed(1, false);
  it.bench.run_for(hw::kMicrosecond);
  const auto info = [&](std::uint32_t port) {
    return hw::load<hw::PortInfo>(it.bench.issue(hw::CommandOpcode::kQueryPort, port).payload);
  };
  EXPECT_EQ(info(1).active, 1u);
  EXPECT_EQ(info(2).active, 0u);
  EXPECT_EQ(it.bench.issue(hw::CommandOpcode::kQueryPort, 3).status, hw::CommandStatus::kBadObject);
  it.bench.adapter().link_changed(1, true);
  it.bench.run_for(hw::kMicrosecond);
  EXPECT_EQ(info(2).active, 1u);
  const auto events = it.bench.events(hw::EqeType::kPortState);
  ASSERT_EQ(events.size(), 2u);
  for (std::uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(events[i].number, 2u);
    EXPECT_EQ(events[i].value, i);
  }
}

}  // namespace
}  // namespace hcasim::testing
