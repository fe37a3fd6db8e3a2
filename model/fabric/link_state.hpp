// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "fabric/parameters.hpp"
#include "hcasim/hw/time.hpp"
#include "sim/engine/engine.hpp"

namespace hcasim::fabric {

using hw::Time;

/// Hears when the link of a port goes down and comes up.
class LinkListener {
 public:
  virtual ~LinkListener() = default;
  /// At the present time of the port's engine.
  virtual void on_link(bool up) = 0;
};

/// One direction of a link, and when it is down.
struct LinkOutage {
  Time at = 0;
  Time length = 0;   ///< 0: never
  Time latency = 0;  ///< from the departure of a bit to its arrival
};

/// What one end of a link finds out about it. It sees at once that nothing comes in any more, and
/// when the first bits are there again. That nothing arrives of what it sends it hears from the far
/// end, a flight later (link fault signalling, IEEE 802.3 clause 81.3.4). The link is down while
/// either is so.
class LinkState final : public sim::Unit {
 public:
  LinkState(sim::Engine& engine, const std::string& name, LinkListener& listener);

  /// Neither outage has begun yet.
  void expect(const LinkOutage& in, const LinkOutage& out);
  void on_event(std::uint64_t change) override;

 private:
  LinkListener& listener_;
  std::uint32_t outages_ = 0;  // that it sees now
};

}  // namespace hcasim::fabric
