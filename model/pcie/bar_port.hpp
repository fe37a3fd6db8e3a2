// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <string>
#include <vector>

#include "fabric/link_ring.hpp"
#include "pcie/dma.hpp"
#include "pcie/endpoint.hpp"
#include "pcie/transactions.hpp"
#include "sim/engine/engine.hpp"

namespace hcasim::pcie {

struct BarPortCounters {
  std::uint64_t writes = 0;
  std::uint64_t reads = 0;
  std::uint64_t held_up = 0;  ///< times the adapter could not take a write
};

/// The adapter's side of its BAR: offers accesses to the adapter when they arrive, one after the
/// other; a write that it cannot take holds up all behind it, and their credits.
class BarPort final : public sim::Unit, public DeviceSide, public BarHost {
 public:
  /// `endpoint` sends the answers to reads upstream.
  BarPort(sim::Engine& engine, const std::string& name, const Parameters& parameters,
          Endpoint& endpoint);
  /// The adapter; must be set before the first access.
  void set_target(BarTarget& target) { target_ = &target; }

  bool access(BarSink& sink, const BarAccess& access, Time arrival) override;
  /// The same where no later access arrives earlier. A write that the adapter takes ahead costs no
  /// event.
  bool access_in_order(BarSink& sink, const BarAccess& access, Time arrival);
  void bar_ready() override;
  void on_event(std::uint64_t argument) override;

  const BarPortCounters& counters() const { return counters_; }
  std::size_t waiting() const { return queue_.size(); }

 private:
  struct Arrival {
    BarSink* sink;
    BarAccess access;
    Time at;
  };

  void offer();
  bool deliver(const Arrival& arrival);

  Endpoint& endpoint_;
  BarTarget* target_ = nullptr;
  Time propagation_;
  fabric::LinkRing<Arrival> queue_;
  bool held_up_ = false;
  bool offering_ = false;
  BarPortCounters counters_;
};

}  // namespace hcasim::pcie
