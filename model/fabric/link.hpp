// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "fabric/link_clock.hpp"
#include "fabric/link_ring.hpp"
#include "fabric/parameters.hpp"
#include "fabric/port.hpp"
#include "sim/engine/coupling.hpp"
#include "sim/engine/engine.hpp"

namespace hcasim::fabric {

/// What a port puts its packets on: the far end of a cable.
class Wire {
 public:
  virtual ~Wire() = default;
  /// The packet's last bit arrives at `arrival`. Packets of one sender come in
  /// order, unless the wire has faults.
  virtual void carry(PacketPtr packet, Time arrival) = 0;
  /// The same for a pause frame, see PauseListener. Modules on the way do not see it.
  virtual void carry_pause(Time /*length*/, Time /*arrival*/) {}
  /// The same for a packet of which these bytes arrive. What they are is for the far end to find
  /// out; the packet is there to be decoded into.
  virtual void carry_damaged(PacketPtr packet, std::span<const std::uint8_t> frame,
                             Time arrival) = 0;
};

/// Sees the packets of a port: for recorders and checkers.
class PacketObserver {
 public:
  virtual ~PacketObserver() = default;
  /// Before it is handed to the wire. First bit out at `start`.
  virtual void on_sent(const Packet& packet, Time start) = 0;
  /// Before it is handed to the port's sink. Last bit in at `end`, the present time.
  virtual void on_arrived(const Packet& /*packet*/, Time /*end*/) {}
};

/// Takes the pause frames that come in on a port.
class PauseListener {
 public:
  virtual ~PauseListener() = default;
  /// One arrives at `arrival`: no packet may start for `length` from then on; 0 ends a pause.
  /// Called from the node that sent it, in order of arrival.
  virtual void on_pause(Time length, Time arrival) = 0;
};

struct PortCounters {
  std::uint64_t packets_out = 0;
  std::uint64_t packets_in = 0;
  std::uint64_t rx_icrc_encapsulated = 0;  ///< dropped on arrival for a wrong ICRC
};

/// One port of an adapter on a full-duplex Ethernet link. A packet takes the link for all the bytes
/// that it occupies on an Ethernet, preamble and gap included, and is with the peer when both MACs
/// and the cable have passed it on.
class EthernetPort final : public sim::Unit, public PacketPort, public Wire {
 public:
  EthernetPort(sim::Engine& engine, const std::string& name, const Parameters& parameters);

  /// Who takes arriving packets; must be set before the first arrives.
  void set_sink(PacketSink& sink) { sink_ = &sink; }
  /// Where packets go to: the peer, or a socket.
  void set_wire(Wire& wire) { wire_ = &wire; }
  /// To be told of arrivals costs an event a packet.
  void set_observer(PacketObserver* observer, bool arrivals = false) {
    observer_ = observer;
    observes_arrivals_ = arrivals;
  }

  /// Who minds pause frames; without one they are ignored.
  void set_pause_listener(PauseListener& listener) { pauses_ = &listener; }

  Time send(PacketPtr packet) override;
  /// Sends a pause frame: behind what was sent before it, ahead of everything else.
  void send_pause(Time length);
  Time free_at() const override { return clock_.free_at(); }
  /// A packet for this port, from another node.
  void carry(PacketPtr packet, Time arrival) override;
  void carry_pause(Time length, Time arrival) override;
  void carry_damaged(PacketPtr packet, std::span<const std::uint8_t> frame, Time arrival) override;
  void on_event(std::uint64_t argument) override;

  /// Least time from sending a packet to its arrival: how far nodes may run apart.
  Time lookahead() const;
  /// From the departure of a packet's last bit to its arrival.
  Time latency() const { return latency_; }
  const LinkClock& clock() const { return clock_; }
  const PortCounters& counters() const { return counters_; }

 private:
  struct Arrival {
    PacketPtr packet;
    Time at = 0;
  };

  LinkClock clock_;
  Time latency_;
  PacketSink* sink_ = nullptr;
  Wire* wire_ = nullptr;
  PauseListener* pauses_ = nullptr;
  PacketObserver* observer_ = nullptr;
  bool observes_arrivals_ = false;
  LinkRing<Arrival> arrivals_;
  PortCounters counters_;
};

/// Connects two ports by a cable and tells the coupling of their engines, known by index.
void connect(EthernetPort& a, EthernetPort& b);
void couple(sim::Coupling& coupling, std::size_t engine_a, const EthernetPort& a,
            std::size_t engine_b, const EthernetPort& b);

}  // namespace hcasim::fabric
