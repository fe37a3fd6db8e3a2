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

/// One end of a link.
class PacketPort {
 public:
  virtual ~PacketPort() = default;
  /// Hands a packet over at the present time; it goes out when those before it have. Returns the
  /// time at which its first bit leaves.
  virtual hw::Time send(PacketPtr packet) = 0;
  /// Time at which the last bit of everything handed over so far has left.
  virtual hw::Time free_at() const = 0;
};

}  // namespace hcasim::fabric
