// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "fabric/switch_output.hpp"

#include <utility>

#include "hcasim/hw/wire/ethernet.hpp"

namespace hcasim::fabric {

namespace {
// RFC 3168: both codepoints of an ECN-capable transport, and "congestion experienced".
constexpr std::uint8_t kCongestionExperienced = 3;
constexpr bool is_ecn_capable(std::uint8_t ecn) {
  return ecn == 1 || ecn == 2;
}
}  // namespace

SwitchOutput::SwitchOutput(sim::Engine& engine, const std::string& name, EthernetPort& port,
                           const SwitchParameters& p, std::uint64_t seed)
    : Unit(engine, name),
      port_(port),
      buffer_bytes_(p.buffer_bytes),
      ecn_(p.ecn),
      marker_(p, seed) {}

std::uint32_t SwitchOutput::bytes_of(const Packet& packet) {
  return static_cast<std::uint32_t>(packet.frame_bytes() + hw::kEthernetFcsBytes);
}

void SwitchOutput::take(PacketPtr packet, PauseControl& input) {
  const std::uint32_t bytes = bytes_of(*packet);
  if (held_ + bytes > buffer_bytes_) {
    ++counters_.tx_discards_phy;
    return;
  }
  if (ecn_) mark(*packet);
  held_ += bytes;
  input.hold(bytes);
  waiting_.push({std::move(packet), &input, bytes});
  if (leaving_.bytes == 0) send_next();
}

void SwitchOutput::mark(Packet& packet) {
  if (!is_ecn_capable(packet.address.ecn()) || !marker_.marks(held_)) return;
  packet.address.traffic_class |= kCongestionExperienced;
  ++counters_.ecn_marked;
}

void SwitchOutput::send_next() {
  leaving_ = waiting_.pop();
  ++counters_.tx_packets_phy;
  counters_.tx_bytes_phy += leaving_.bytes;
  port_.send(std::move(leaving_.packet));
  schedule(port_.free_at());
}

// The last bit of a packet has left.
void SwitchOutput::on_event(std::uint64_t) {
  held_ -= leaving_.bytes;
  leaving_.input->release(leaving_.bytes);
  leaving_.bytes = 0;
  if (!waiting_.empty()) send_next();
}

}  // namespace hcasim::fabric
