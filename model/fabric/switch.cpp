// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "fabric/switch.hpp"

#include <algorithm>
#include <utility>

#include "hcasim/hw/wire/multicast.hpp"

namespace hcasim::fabric {

namespace {

std::uint64_t number_of(const hw::MacAddress& address) {
  std::uint64_t number = 0;
  for (const std::uint8_t byte : address) number = number << 8 | byte;
  return number;
}

}  // namespace

// The order of construction is the order of what happens at one time: packets leave, then come in.
Switch::Switch(sim::Engine& engine, const std::vector<Port>& ports, std::uint64_t seed) {
  for (const Port& port : ports) {
    outputs_.emplace_back(engine, port.name + ".output", port.ethernet, port.parameters, seed++);
  }
  for (const Port& port : ports) {
    pauses_.emplace_back(engine, port.name + ".pause", port.ethernet, port.parameters);
  }
  for (const Port& port : ports) inputs_.emplace_back(*this, engine, port, inputs_.size());
}

void Switch::add_address(const hw::MacAddress& address, std::size_t port) {
  const std::uint64_t number = number_of(address);
  const auto place = std::ranges::lower_bound(table_, number, {}, &Entry::address);
  table_.insert(place, {number, port});
}

SwitchOutput* Switch::output_for(const hw::MacAddress& address) {
  const std::uint64_t number = number_of(address);
  const auto found = std::ranges::lower_bound(table_, number, {}, &Entry::address);
  return found != table_.end() && found->address == number ? &outputs_[found->port] : nullptr;
}

void Switch::forward(PacketPtr packet, std::size_t input) {
  SwitchCounters& counters = outputs_[input].counters();
  ++counters.rx_packets_phy;
  counters.rx_bytes_phy += SwitchOutput::bytes_of(*packet);
  if (hw::is_multicast(packet->address.dst_mac)) return flood(*packet, input);
  SwitchOutput* const output = output_for(packet->address.dst_mac);
  if (output == nullptr) {
    ++counters.discard_ingress_general;
    return;
  }
  output->take(std::move(packet), pauses_[input]);
}

// To all but where it came from. Whose message it is matters to no receiver: there are several.
void Switch::flood(const Packet& packet, std::size_t input) {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (i == input) continue;
    PacketPtr copy = pool_.clone(packet);
    copy->message = 0;
    outputs_[i].take(std::move(copy), pauses_[input]);
  }
}

Switch::Input::Input(Switch& owner, sim::Engine& engine, const Port& port, std::size_t index)
    : Unit(engine, port.name + ".input"),
      port_name(port.name),
      switch_(owner),
      index_(index),
      latency_(port.parameters.latency_ns * hw::kNanosecond) {
  port.ethernet.set_sink(*this);
}

void Switch::Input::on_wire(PacketPtr& packet, Time arrival) {
  // Sorted, for a foreign module on the link may delay one packet more than the next.
  Arrival& last = arrivals_.emplace();
  last.packet = std::move(packet);
  last.at = arrival;
  arrivals_.settle_last([arrival](const Arrival& other) { return other.at > arrival; });
  engine().schedule_from_outside(*this, arrival + latency_);
}

void Switch::Input::on_event(std::uint64_t) {
  PacketPtr packet = std::move(arrivals_.front().packet);
  arrivals_.drop();
  switch_.forward(std::move(packet), index_);
}

}  // namespace hcasim::fabric
