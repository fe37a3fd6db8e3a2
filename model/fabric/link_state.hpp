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

/// One direction of a link, and when its sender puts nothing on it.
struct LinkOutage {
  Time at = 0;       ///< as its sender sees it
  Time length = 0;   ///< 0: never
  Time latency = 0;  ///< from the departure of a bit to its arrival
};

/// What one end of a link finds out about it. That nothing comes in any more it sees when the last
/// bits before the outage are in, and its end when the first ones behind it are: a flight after
/// either. That nothing arrives of what it sends it hears from the far end, another flight later
/// (link fault signalling, IEEE 802.3 clause 81.3.4). The link is down while either is so.
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
