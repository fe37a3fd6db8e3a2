// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

#include "hcasim/hw/contexts.hpp"
#include "hcasim/hw/time.hpp"

namespace hcasim::fabric {
class Packet;  // fabric/packet.hpp
}

namespace hcasim::sim {

/// Sees what goes on at the ports of a run, as it happens: for checkers, and for statistics of
/// one's own. A node is known by its place in the trace, from 0 on. Times are those of the
/// simulation; t = 0 of the trace is what on_epoch() says. Calls for one node come in order, those
/// for two may be as far apart as their nodes run. What is passed is valid during the call. Results
/// do not depend on whether somebody looks.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  /// What comes first is done, and the trace begins.
  virtual void on_epoch(hw::Time /*epoch*/) {}
  /// The node puts a packet on its wire: the first bit leaves at `start`.
  virtual void on_sent(std::size_t /*node*/, const fabric::Packet& /*packet*/, hw::Time /*start*/) {
  }
  /// A packet whose bytes are sound has come in: the last bit at `end`.
  virtual void on_arrived(std::size_t /*node*/, const fabric::Packet& /*packet*/,
                          hw::Time /*end*/) {}
  /// The adapter has no room for a packet that has come in, and drops it.
  virtual void on_discarded(std::size_t /*node*/, const fabric::Packet& /*packet*/,
                            hw::Time /*at*/) {}
  /// A queue pair of the node has a new state or new attributes; it was in state `before`.
  virtual void on_qp_modified(std::size_t /*node*/, const hw::QpContext& /*context*/,
                              hw::QpState /*before*/, hw::Time /*at*/) {}
  /// A queue pair of the node is in RESET or gone, and nothing of it is under way in the adapter.
  virtual void on_qp_reset(std::size_t /*node*/, std::uint32_t /*qpn*/, hw::Time /*at*/) {}
};

}  // namespace hcasim::sim
