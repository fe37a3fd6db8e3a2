// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fabric/packet.hpp"
#include "hcasim/hw/time.hpp"
#include "support/protocol_monitor/rule.hpp"

namespace hcasim::monitor {

/// A packet as it passes one end of a link.
struct Observation {
  const fabric::Packet& packet;
  hw::Time at = 0;
};

/// A packet that broke a rule.
struct Violation {
  hw::Time at = 0;
  Rule rule = Rule::kDestination;
  std::uint32_t port = 0;
  std::uint32_t qpn = 0;  ///< the sender, 0 when it is not known
  std::string packet;
  std::string expected;
};

/// A packet in a line.
std::string describe(const fabric::Packet& packet);
/// A violation in a line: time, rule, packet, what was expected.
std::string describe(const Violation& violation);

/// All that was found. Counts without end, keeps the first ones.
class Violations {
 public:
  void add(Violation violation);
  bool empty() const { return count_ == 0; }
  std::uint64_t count() const { return count_; }
  const std::vector<Violation>& kept() const { return kept_; }
  /// One line each; empty when there are none.
  std::string text() const;
  void clear();

 private:
  static constexpr std::size_t kKept = 20;

  std::uint64_t count_ = 0;
  std::vector<Violation> kept_;
};

/// Reports on one queue pair.
class Judge {
 public:
  Judge(Violations& violations, std::uint32_t port, std::uint32_t qpn)
      : violations_(&violations), port_(port), qpn_(qpn) {}

  /// Reports the rule broken unless `good`. `expected` makes the text, then only. Returns `good`.
  template <typename Text>
  bool expect(bool good, Rule rule, const Observation& seen, Text expected) const {
    if (!good) report(rule, seen, expected());
    return good;
  }

 private:
  void report(Rule rule, const Observation& seen, std::string expected) const;

  Violations* violations_;
  std::uint32_t port_;
  std::uint32_t qpn_;
};

}  // namespace hcasim::monitor
