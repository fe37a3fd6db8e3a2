// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "fabric/packet_pool.hpp"
#include "hca/clock.hpp"
#include "hca/core.hpp"
#include "sim/engine/unit.hpp"

namespace hcasim::hca {

/// Brings datagrams to a group back to the adapter that sends them, whose own queue pairs may be in
/// the group (InfiniBand specification 10.5.2). The copy enters the responder when the packet's
/// last bit has left, behind what arrives at the same time.
class Loopback final : public sim::Unit {
 public:
  explicit Loopback(Core& core) : Unit(core.engine, "loopback"), core_(core) {}

  /// `packet` has left at `departure`, which never decreases for one port.
  void take(fabric::PacketPtr packet, hw::Time departure);
  void on_event(std::uint64_t argument) override;

 private:
  struct UnderWay {
    fabric::PacketPtr packet;
    hw::Time departure = 0;
  };

  Core& core_;
  Fifo<UnderWay> under_way_;
};

}  // namespace hcasim::hca
