// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "fabric/link.hpp"
#include "fabric/packet_pool.hpp"
#include "fabric/pausable_port.hpp"
#include "fabric/switch.hpp"

namespace hcasim::fabric::test {

inline hw::MacAddress address_of(std::size_t node) {
  return {2, 0, 0, 0, 0, static_cast<std::uint8_t>(node + 1)};
}

/// Lets time pass.
class Clock : public sim::Unit {
 public:
  explicit Clock(sim::Engine& engine) : Unit(engine, "clock") {}
  /// Brings an engine that has nothing else to do to that time.
  void advance_to(Time time) {
    schedule(time);
    engine().run_before(time + 1);
  }
  void on_event(std::uint64_t) override {}
};

/// One node: a port, who writes down what goes out and comes in, and packets to send.
struct Node : PacketSink, PacketObserver {
  struct Seen {
    std::uint32_t psn;
    Time at;
    std::uint8_t ecn;
    friend bool operator==(const Seen&, const Seen&) = default;
  };

  static constexpr std::uint64_t kPortBuffer = 16384;

  Node(std::size_t number, const Parameters& parameters)
      : engine("n" + std::to_string(number)), clock(engine), port(engine, "port", parameters) {
    port.set_sink(*this);
    port.set_observer(this);
    if (parameters.at_switch.pfc) {
      pausable = std::make_unique<PausablePort>(engine, "pausable", port, kPortBuffer);
    }
    arrived.reserve(10'000);
    sent.reserve(10'000);
  }
  void on_packet(PacketPtr packet) override {
    arrived.push_back({packet->psn, engine.now(), packet->address.ecn()});
  }
  void on_sent(const Packet& packet, Time start) override {
    sent.push_back({packet.psn, start, packet.address.ecn()});
  }

  sim::Engine engine;
  Clock clock;
  EthernetPort port;
  std::unique_ptr<PausablePort> pausable;
  PacketPool pool;
  std::vector<Seen> arrived;
  std::vector<Seen> sent;
};

/// Nodes around a switch. Engines take turns event by event, so that nothing depends on run-ahead.
struct Star {
  explicit Star(std::size_t count, const Parameters& parameters = {}) : parameters_(parameters) {
    std::vector<Switch::Port> ports;
    for (std::size_t i = 0; i < count; ++i) {
      coupling.add(nodes.emplace_back(i, parameters_).engine);
      ends.emplace_back(engine, "port" + std::to_string(i), parameters_);
      connect(nodes[i].port, ends[i]);
      ports.push_back({"n" + std::to_string(i), ends[i], parameters_.at_switch});
    }
    coupling.add(engine);
    core = std::make_unique<Switch>(engine, ports, 1);
    for (std::size_t i = 0; i < count; ++i) core->add_address(address_of(i), i);
  }

  /// Hands a packet to the port of a node, at the present time of its engine.
  void send(std::size_t from, std::size_t to, std::uint32_t psn, std::size_t payload = 1024,
            std::uint8_t ecn = 0) {
    Node& node = nodes[from];
    PacketPtr packet = node.pool.acquire();
    packet->psn = psn;
    packet->address.dst_mac = address_of(to);
    packet->address.traffic_class = ecn;
    packet->resize_payload(payload);
    PacketPort& out = node.pausable ? static_cast<PacketPort&>(*node.pausable) : node.port;
    out.send(std::move(packet));
  }
  void run() {
    for (;;) {
      sim::Engine& next = coupling.engine(coupling.earliest());
      if (next.next_time() == hw::kNever) return;
      next.run_before(next.next_time() + 1);
    }
  }
  std::uint64_t drops() {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < core->size(); ++i) sum += core->counters(i).tx_discards_phy;
    return sum;
  }

  Parameters parameters_;
  sim::Coupling coupling;
  sim::Engine engine{"switch"};
  std::deque<Node> nodes;
  std::deque<EthernetPort> ends;
  std::unique_ptr<Switch> core;
};

/// Bytes of a packet of 1024 bytes as a switch counts them, and its time on a link of 100 Gb/s.
inline std::uint32_t kilobyte_bytes() {
  Packet packet;
  packet.resize_payload(1024);
  return SwitchOutput::bytes_of(packet);
}
inline Time kilobyte_time() {
  Packet packet;
  packet.resize_payload(1024);
  return static_cast<Time>(packet.wire_bytes()) * 80;
}

}  // namespace hcasim::fabric::test
