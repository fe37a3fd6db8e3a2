// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "fabric/packet.hpp"
#include "hcasim/hw/time.hpp"

namespace hcasim::fabric {

/// Takes packets that arrive on a port, at the present time of its node's engine, in the order of
/// arrival: the last bit is in.
class PacketSink {
 public:
  virtual ~PacketSink() = default;
  virtual void on_packet(PacketPtr packet) = 0;
  /// A packet will arrive at `arrival`; called from the node that sent it, in any order. A sink
  /// that minds its arrival itself moves it away, and saves the port an event.
  virtual void on_wire(PacketPtr& /*packet*/, hw::Time /*arrival*/) {}
};

/// Returned in the place of a start that cannot be foretold: PortListener is told of it.
inline constexpr hw::Time kStartsLater = -1;

/// A packet that starts after it had to wait.
struct Departure {
  std::uint64_t message = 0;
  hw::BthOpcode opcode{};
  hw::Time start = 0;  ///< its first bit leaves: now
  hw::Time end = 0;    ///< its last bit has left
};

/// Who hands packets to a port that can be stopped.
class PortListener {
 public:
  virtual ~PortListener() = default;
  /// No packet is to be handed over until the port goes on.
  virtual void port_stops() = 0;
  virtual void port_goes_on() = 0;
  /// A packet for which send() returned kStartsLater, in their order.
  virtual void started(const Departure& departure) = 0;
};

/// One end of a link.
class PacketPort {
 public:
  virtual ~PacketPort() = default;
  /// Hands a packet over at the present time; it goes out when those before it have. Returns the
  /// time at which its first bit leaves, or kStartsLater where there is a listener.
  virtual hw::Time send(PacketPtr packet) = 0;
  /// Time at which the last bit of everything handed over so far has left.
  virtual hw::Time free_at() const = 0;
  /// For ports that can be stopped.
  virtual void set_listener(PortListener& /*listener*/) {}
};

}  // namespace hcasim::fabric
