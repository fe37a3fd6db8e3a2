// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "fabric/link.hpp"

#include <utility>

#include "fabric/codec.hpp"
#include "hcasim/hw/wire/ethernet.hpp"

namespace hcasim::fabric {

namespace {

// The least frame of an Ethernet with FCS, preamble and gap.
constexpr std::uint64_t kLeastWireBytes = 64 + 8 + 12;

Time latency_of(const Parameters& p) {
  return (2 * static_cast<Time>(p.mac_phy_ns) + p.propagation_ns) * hw::kNanosecond;
}

}  // namespace

EthernetPort::EthernetPort(sim::Engine& engine, const std::string& name, const Parameters& p)
    : Unit(engine, name), clock_(ByteRate::from_gbps(p.rate_gbps)), latency_(latency_of(p)) {}

Time EthernetPort::lookahead() const {
  return latency_ + clock_.rate().floor(kLeastWireBytes);
}

Time EthernetPort::send(PacketPtr packet) {
  ++counters_.packets_out;
  const LinkClock::Slot slot = clock_.reserve(now(), packet->wire_bytes());
  if (observer_ != nullptr) observer_->on_sent(*packet, slot.start);
  wire_->carry(std::move(packet), slot.end + latency_);
  return slot.start;
}

void EthernetPort::send_pause(Time length) {
  wire_->carry_pause(length, clock_.reserve(now(), kLeastWireBytes).end + latency_);
}

void EthernetPort::carry_pause(Time length, Time arrival) {
  if (pauses_ != nullptr) pauses_->on_pause(length, arrival);
}

void EthernetPort::carry(PacketPtr packet, Time arrival) {
  if (!observes_arrivals_) sink_->on_wire(packet, arrival);
  if (!packet) {
    ++counters_.packets_in;
    return;
  }
  // Sorted, for a foreign module in between may delay one packet more than the next.
  Arrival& last = arrivals_.emplace();
  last.packet = std::move(packet);
  last.at = arrival;
  arrivals_.settle_last([arrival](const Arrival& other) { return other.at > arrival; });
  engine().schedule_from_outside(*this, arrival);
}

// The ICRC is looked at before anything else, so whatever the bytes seem to say is dropped.
void EthernetPort::carry_damaged(PacketPtr packet, std::span<const std::uint8_t> frame,
                                 Time arrival) {
  const std::uint64_t message = packet->message;  // is not in the bytes
  const DecodeResult found = decode_frame(frame, *packet);
  if (!found.is_roce() || found.icrc != IcrcStatus::kOk) {
    ++counters_.rx_icrc_encapsulated;
    return;
  }
  packet->message = message;
  carry(std::move(packet), arrival);
}

void EthernetPort::on_event(std::uint64_t) {
  ++counters_.packets_in;
  PacketPtr packet = std::move(arrivals_.front().packet);
  arrivals_.drop();
  if (observes_arrivals_) observer_->on_arrived(*packet, now());
  sink_->on_packet(std::move(packet));
}

void connect(EthernetPort& a, EthernetPort& b) {
  a.set_wire(b);
  b.set_wire(a);
}

void couple(sim::Coupling& coupling, std::size_t engine_a, const EthernetPort& a,
            std::size_t engine_b, const EthernetPort& b) {
  if (engine_a == engine_b) return;
  coupling.connect(engine_a, engine_b, a.lookahead());
  coupling.connect(engine_b, engine_a, b.lookahead());
}

}  // namespace hcasim::fabric
