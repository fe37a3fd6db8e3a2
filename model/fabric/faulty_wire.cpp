// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "fabric/faulty_wire.hpp"

#include <array>
#include <utility>

#include "fabric/codec.hpp"

namespace hcasim::fabric {

namespace {

enum Kind : std::uint64_t { kLoss = 1, kDuplication, kReordering, kCorruption, kFlips };

constexpr std::uint32_t kMostFlips = 3;  // a CRC of 32 bits finds any three in a packet

std::size_t bytes_below_bth(const Addressing& address) {
  return hw::Ethernet::kBytes + (address.has_vlan ? hw::Vlan::kBytes : 0) +
         (address.is_ipv4() ? hw::Ipv4::kBytes : hw::Ipv6::kBytes) + hw::Udp::kBytes;
}

// BTH, extension headers, payload, padding and ICRC.
std::size_t bytes_from_bth(const Packet& packet) {
  return hw::Bth::kBytes + packet.info().bytes + packet.payload_size() + packet.pad_count() +
         hw::kIcrcBytes;
}

}  // namespace

FaultyWire::FaultyWire(const EthernetPort& port, const Parameters::Faults& p, std::uint64_t seed)
    : port_(port),
      loss_(p.loss, seed, kLoss),
      duplication_(p.duplication, seed, kDuplication),
      reordering_(p.reordering, seed, kReordering),
      corruption_(p.corruption, seed, kCorruption),
      flips_(sim::Random::mix(seed ^ sim::Random::mix(kFlips))),
      duplication_delay_(p.duplication_delay_ns * hw::kNanosecond),
      reordering_delay_(p.reordering_delay_ns * hw::kNanosecond),
      down_at_(p.down_at_ns * hw::kNanosecond),
      down_for_(p.down_for_ns * hw::kNanosecond) {}

// The link is cut where its sender is: what is under way by then arrives.
bool FaultyWire::finds_link_down(const Packet& packet, Time arrival) const {
  if (down_for_ == 0) return false;
  const Time end = arrival - port_.latency();
  const Time start = end - port_.clock().rate().ceil(packet.wire_bytes());
  const Time down = begun_ + down_at_;
  return end > down && start < down + down_for_;
}

void FaultyWire::carry(PacketPtr packet, Time arrival) {
  if (arrival < begun_) return wire_->carry(std::move(packet), arrival);
  if (finds_link_down(*packet, arrival)) {
    ++counters_.lost_link_down;
    return;
  }
  // All are drawn for each packet, so that each strikes at the same places whatever others do.
  const bool lost = loss_.happens();
  const bool late = reordering_.happens();
  const bool twice = duplication_.happens();
  const bool damaged = corruption_.happens();
  if (lost) {
    ++counters_.lost;
    return;
  }
  if (late) {
    ++counters_.reordered;
    arrival += reordering_delay_;
  }
  if (twice) duplicate(*packet, arrival + duplication_delay_);
  if (damaged) return corrupt(std::move(packet), arrival);
  wire_->carry(std::move(packet), arrival);
}

void FaultyWire::duplicate(const Packet& packet, Time arrival) {
  ++counters_.duplicated;
  PacketPtr copy = copies_.clone(packet);
  copy->message = packet.message;
  wire_->carry(std::move(copy), arrival);
}

void FaultyWire::corrupt(PacketPtr packet, Time arrival) {
  ++counters_.corrupted;
  std::array<std::uint8_t, kMaxFrameBytes> frame;
  const std::size_t bytes = encode_frame(*packet, frame);
  const std::size_t first_bit = 8 * bytes_below_bth(packet->address);
  const auto bits = static_cast<std::uint32_t>(8 * bytes_from_bth(*packet));
  const std::uint64_t flips = 1 + flips_.below(kMostFlips);
  const std::uint64_t apart = 1 + flips_.below(bits / kMostFlips);
  std::uint64_t bit = flips_.below(bits);
  for (std::uint64_t i = 0; i < flips; ++i) {
    const std::size_t place = first_bit + bit;
    frame[place / 8] = static_cast<std::uint8_t>(frame[place / 8] ^ (1u << place % 8));
    bit = (bit + apart) % bits;
  }
  wire_->carry_damaged(std::move(packet), {frame.data(), bytes}, arrival);
}

}  // namespace hcasim::fabric
