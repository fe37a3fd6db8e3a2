// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// What passes an adapter on its bench: work requests, completions, events and packets.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "support/adapter_bench/adapter_bench.hpp"

namespace hcasim::testing {

void AdapterBench::post_send(BenchQp& qp, const SendWr& wr) {
  enter([&] { store_send(qp, wr); });
}

void AdapterBench::store_send(BenchQp& qp, const SendWr& wr) {
  hw::SendWqeControl control{};
  control.opcode = wr.opcode;
  control.flags = wr.flags;
  control.num_sge = static_cast<std::uint8_t>(wr.sges.size());
  control.imm_or_key = wr.imm_or_key;
  control.index = qp.send_head;
  const std::uint64_t slot =
      qp.context.sq_base + std::uint64_t{qp.send_head} * qp.context.sq_stride;
  const std::uint64_t data = slot + hw::send_wqe_data_offset(wr.opcode, qp.context.type);
  if (wr.sges.empty()) {
    control.flags |= hw::kWqeInline;
    control.length = static_cast<std::uint32_t>(wr.inline_data.size());
    fill(data, wr.inline_data);
  }
  for (std::size_t i = 0; i < wr.sges.size(); ++i) {
    control.length += wr.sges[i].length;
    store(data + i * sizeof(hw::Sge), wr.sges[i]);
  }
  const std::uint32_t size = static_cast<std::uint32_t>(data - slot) +
                             static_cast<std::uint32_t>(wr.sges.size() * sizeof(hw::Sge)) +
                             static_cast<std::uint32_t>(wr.inline_data.size());
  control.blocks = static_cast<std::uint8_t>((size + 63) / 64);
  store(slot, control);
  if (qp.context.type == hw::QpType::kUd) {
    store(slot + hw::kSendWqeDatagramOffset, wr.datagram);
  } else {
    store(slot + hw::kSendWqeRemoteOffset, hw::SendWqeRemote{wr.remote_addr, wr.rkey, 0});
  }
  if (data == slot + 48) {
    store(slot + hw::kSendWqeAtomicOffset, hw::SendWqeAtomic{wr.compare_add, wr.swap});
  }
  qp.send_head = (qp.send_head + 1) % qp.context.sq_size;
}

void AdapterBench::ring_send(const BenchQp& qp) {
  EXPECT_TRUE(ring(hw::bar::kSendDoorbell, qp.qpn(), qp.send_head));
}

void AdapterBench::post_recv(BenchQp& qp, std::uint64_t wr_id, const std::vector<hw::Sge>& sges) {
  enter([&] { store_recv(qp, wr_id, sges); });
}

void AdapterBench::store_recv(BenchQp& qp, std::uint64_t wr_id, const std::vector<hw::Sge>& sges) {
  const std::uint64_t slot =
      qp.context.rq_base + std::uint64_t{qp.recv_head} * qp.context.rq_stride;
  hw::ReceiveWqe wqe{};
  wqe.wr_id = wr_id;
  wqe.num_sge = static_cast<std::uint8_t>(sges.size());
  store(slot, wqe);
  for (std::size_t i = 0; i < sges.size(); ++i) {
    store(slot + sizeof wqe + i * sizeof(hw::Sge), sges[i]);
  }
  qp.recv_head = (qp.recv_head + 1) % qp.context.rq_size;
}

void AdapterBench::ring_recv(const BenchQp& qp) {
  EXPECT_TRUE(ring(hw::bar::kReceiveDoorbell, qp.qpn(), qp.recv_head));
}

bool AdapterBench::ring(std::uint64_t doorbell, std::uint32_t number, std::uint32_t index) {
  const std::uint64_t value = hw::bar::doorbell(number, index);
  bool taken = false;
  enter([&] { taken = adapter_->bar_write(hw::bar::kUarBase + doorbell, &value, sizeof value); });
  return taken;
}

std::vector<hw::Cqe> AdapterBench::poll(BenchCq& cq, bool publish) {
  std::vector<hw::Cqe> found;
  enter([&] { found = take_completions(cq, publish); });
  return found;
}

std::vector<hw::Cqe> AdapterBench::take_completions(BenchCq& cq, bool publish) {
  std::vector<hw::Cqe> found;
  while (true) {
    const std::uint32_t slots = cq.context.cqe;
    const auto cqe = load<hw::Cqe>(cq.context.base + 64 * (cq.seen % slots));
    if (cqe.owner != (cq.seen / slots % 2 == 0 ? 1 : 0)) break;
    found.push_back(cqe);
    ++cq.seen;
    if (found.size() == slots) break;
  }
  if (publish) {
    store(cq.context.consumer_record, hw::ConsumerRecord{static_cast<std::uint32_t>(cq.seen), 0});
  }
  return found;
}

std::vector<hw::Eqe> AdapterBench::events() {
  std::vector<hw::Eqe> found;
  while (true) {
    const auto eqe = load<hw::Eqe>(eq_.base + 32 * (events_seen_ % eq_.entries));
    if (eqe.owner != (events_seen_ / eq_.entries % 2 == 0 ? 1 : 0)) return found;
    ++events_seen_;
    if (eqe.type != hw::EqeType::kCommandDone) found.push_back(eqe);
  }
}

std::vector<hw::Eqe> AdapterBench::events(hw::EqeType type) {
  std::vector<hw::Eqe> found = events();
  std::erase_if(found, [&](const hw::Eqe& eqe) { return eqe.type != type; });
  return found;
}

fabric::PacketPtr AdapterBench::make_packet(const BenchQp& qp, const PeerPacket& packet) {
  fabric::PacketPtr made = packets.acquire();
  made->set_headers(packet.headers);
  made->dest_qp = qp.qpn();
  if (qp.context.type != hw::QpType::kUd) made->src_qp = qp.context.remote_qpn;
  const auto payload = made->resize_payload(packet.payload.size());
  std::copy(packet.payload.begin(), packet.payload.end(), payload.begin());
  return made;
}

void AdapterBench::arrive(const BenchQp& qp, const PeerPacket& packet) {
  fabric::PacketPtr made = make_packet(qp, packet);
  rules.arrived(0, *made, now());
  adapter_->packet_sink().on_packet(std::move(made));
}

void AdapterBench::arrive_at(Time time, const BenchQp& qp, const PeerPacket& packet) {
  const BenchQp target = qp;
  at(time, [this, target, packet] { arrive(target, packet); });
}

void AdapterBench::arrive_ahead(Time arrival, const BenchQp& qp, const PeerPacket& packet) {
  const BenchQp target = qp;
  at(arrival, [this, target, packet] { rules.arrived(0, *make_packet(target, packet), now()); });
  fabric::PacketPtr made = make_packet(qp, packet);
  adapter_->packet_sink().on_wire(made, arrival);
  EXPECT_FALSE(made);
}

PeerPacket AdapterBench::request(hw::BthOpcode opcode, std::uint32_t psn,
                                 const std::vector<std::uint8_t>& payload, bool ack_req) {
  PeerPacket packet;
  packet.headers.opcode = opcode;
  packet.headers.psn = psn & hw::kPsnMask;
  packet.headers.ack_req = ack_req;
  packet.payload = payload;
  return packet;
}

PeerPacket AdapterBench::ack(std::uint32_t psn, std::uint32_t msn, std::uint8_t syndrome) {
  PeerPacket packet;
  packet.headers.opcode = hw::BthOpcode::kRcAcknowledge;
  packet.headers.psn = psn & hw::kPsnMask;
  packet.headers.aeth = {syndrome, msn};
  return packet;
}

std::vector<SentPacket> AdapterBench::sent() {
  const std::vector<SentPacket> fresh(port.sent.begin() + static_cast<std::ptrdiff_t>(sent_seen_),
                                      port.sent.end());
  sent_seen_ = port.sent.size();
  return fresh;
}

namespace {
class CounterLookup final : public hca::CounterVisitor {
 public:
  void unit(const char* name) override { unit_ = name; }
  void counter(const char* name, std::uint64_t value) override {
    values[unit_ + "." + name] = value;
  }
  std::map<std::string, std::uint64_t> values;

 private:
  std::string unit_;
};
}  // namespace

std::uint64_t AdapterBench::counter(const std::string& unit, const std::string& name) const {
  CounterLookup lookup;
  adapter_->visit_counters(lookup);
  return lookup.values.at(unit + "." + name);
}

std::vector<std::uint8_t> pattern(std::size_t count, unsigned seed) {
  std::vector<std::uint8_t> data(count);
  for (std::size_t i = 0; i < count; ++i) {
    data[i] = static_cast<std::uint8_t>(i * 7 + i / 251 + seed * 31);
  }
  return data;
}

std::vector<hw::WcStatus> statuses(const std::vector<hw::Cqe>& cqes) {
  std::vector<hw::WcStatus> all;
  for (const hw::Cqe& cqe : cqes) all.push_back(cqe.status);
  return all;
}

std::vector<hw::BthOpcode> opcodes(const std::vector<SentPacket>& packets) {
  std::vector<hw::BthOpcode> all;
  for (const SentPacket& packet : packets) all.push_back(packet.headers.opcode);
  return all;
}

std::vector<std::uint32_t> psns(const std::vector<SentPacket>& packets) {
  std::vector<std::uint32_t> all;
  for (const SentPacket& packet : packets) all.push_back(packet.headers.psn);
  return all;
}

}  // namespace hcasim::testing
