// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>

#include "fabric/link.hpp"
#include "hca/observer.hpp"
#include "hcasim/sim/run_observer.hpp"

namespace hcasim::sim {

/// Tells the observer of a run, and the one that writes packets down, of one node.
class ObservedNode final : public fabric::PacketObserver, public hca::TransportObserver {
 public:
  /// @param recorder may be null
  ObservedNode(RunObserver& observer, std::size_t node, fabric::PacketObserver* recorder)
      : observer_(observer), node_(node), recorder_(recorder) {}

  void on_sent(const fabric::Packet& packet, hw::Time start) override {
    if (recorder_ != nullptr) recorder_->on_sent(packet, start);
    observer_.on_sent(node_, packet, start);
  }
  void on_arrived(const fabric::Packet& packet, hw::Time end) override {
    observer_.on_arrived(node_, packet, end);
  }
  void on_qp_modified(const hw::QpContext& context, hw::QpState before, hw::Time at) override {
    observer_.on_qp_modified(node_, context, before, at);
  }
  void on_qp_reset(std::uint32_t qpn, hw::Time at) override {
    observer_.on_qp_reset(node_, qpn, at);
  }
  void on_discarded(const fabric::Packet& packet, hw::Time at) override {
    observer_.on_discarded(node_, packet, at);
  }

 private:
  RunObserver& observer_;
  std::size_t node_;
  fabric::PacketObserver* recorder_;
};

}  // namespace hcasim::sim
