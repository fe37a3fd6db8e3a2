// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "traffic.hpp"

namespace hcasim::faults {

inline constexpr std::uint32_t kConnections = 3;
inline constexpr std::uint32_t kMostMessages = 40;

using Counts = std::map<std::string, std::uint64_t>;

/// What a seed stands for.
struct Scenario {
  fabric::Parameters::Faults link;
  Plan plan;
};

Scenario draw(std::uint64_t seed);

/// What was counted since `before`. The counters of a link are new with each seed.
Counts since(const Counts& before, Counts after);

/// Each of them has happened. One seed need not have them all, but a hundred do.
void expect_happened(const Counts& happened, std::initializer_list<const char*> names);

/// Two nodes whose links, memory and traffic are told anew for each seed. The monitor of the
/// protocol rules watches both ends.
class Faults : public ::testing::Test {
 protected:
  explicit Faults(const std::vector<std::string>& settings = slow_reads());

  static std::vector<std::string> slow_reads() {
    return {"pcie.faults.slow_read=0.05", "pcie.faults.slow_read_ns=5000"};
  }

  /// What the adapters, ports, faults and the switch counted so far, of both nodes.
  Counts counts();
  void set_faults(const fabric::Parameters::Faults& faults, std::uint64_t seed);
  /// The connection number `index` of the seed.
  void add_traffic(rvt::ib_qp_type type, Plan plan, std::uint32_t index);
  /// Runs all traffic while the faults happen; false when it does not come to its end.
  bool run();
  void finish();

  /// The counters tell of the failures that completions tell of. Returns how many there were.
  std::uint64_t check_counters(Counts& counted);
  /// One seed from its beginning to its end, with connections of these types. What was counted is
  /// added to `happened`. Returns the number of failures that completions tell of.
  std::uint64_t run_seed(std::uint64_t seed, const std::vector<rvt::ib_qp_type>& types,
                         Counts& happened);
  /// Messages that ended with each status are added to `ends`.
  void count_ends(std::map<int, std::uint32_t>& ends) const;

 private:
  void poll();

  support::ConnectedPair pair_;
  std::vector<std::unique_ptr<Traffic>> traffic_;
};

}  // namespace hcasim::faults
