// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "fabric/link.hpp"
#include "fabric/packet_pool.hpp"
#include "fabric/pause_control.hpp"
#include "fabric/switch_output.hpp"

namespace hcasim::fabric {

/// An output-queued Ethernet switch that stores and forwards. A packet whose last bit is in reaches
/// the queue of the output to which its destination MAC leads a fixed latency later; of those that
/// reach it at the same time, that of the lower input comes first. What leaves at that time has
/// made room for them. Addresses are told to it: it does not learn. What is for many
/// goes to all outputs but that to its sender.
class Switch {
 public:
  /// One of its ports; its parameters hold for the input and the output.
  struct Port {
    std::string name;
    EthernetPort& ethernet;
    const SwitchParameters& parameters;
  };

  Switch(sim::Engine& engine, const std::vector<Port>& ports, std::uint64_t seed);

  /// Packets to `address` go out at port `port`.
  void add_address(const hw::MacAddress& address, std::size_t port);

  std::size_t size() const { return inputs_.size(); }
  const std::string& name_of(std::size_t port) const { return inputs_[port].port_name; }
  const SwitchCounters& counters(std::size_t port) { return outputs_[port].counters(); }
  const PauseControl& pause_control(std::size_t port) const { return pauses_[port]; }

 private:
  struct Arrival {
    PacketPtr packet;
    Time at = 0;
  };

  /// Where packets come in.
  class Input final : public sim::Unit, public PacketSink {
   public:
    Input(Switch& owner, sim::Engine& engine, const Port& port, std::size_t index);
    void on_packet(PacketPtr packet) override { on_wire(packet, now()); }
    void on_wire(PacketPtr& packet, Time arrival) override;
    void on_event(std::uint64_t argument) override;

    const std::string port_name;

   private:
    Switch& switch_;
    std::size_t index_;
    Time latency_;
    LinkRing<Arrival> arrivals_;
  };

  struct Entry {
    std::uint64_t address;
    std::size_t port;
  };

  void forward(PacketPtr packet, std::size_t input);
  void flood(const Packet& packet, std::size_t input);
  SwitchOutput* output_for(const hw::MacAddress& address);

  PacketPool pool_;  // of copies
  std::deque<SwitchOutput> outputs_;
  std::deque<PauseControl> pauses_;
  std::deque<Input> inputs_;
  std::vector<Entry> table_;  // sorted by address
};

}  // namespace hcasim::fabric
