// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "machine.hpp"
#include "operation.hpp"
#include "reference.hpp"

namespace hcasim::differential {

/// What has happened, so that a test can tell that it did.
struct Census {
  std::uint64_t completions = 0;
  std::array<std::uint64_t, rvt::IB_WC_GENERAL_ERR + 1> statuses{};
  std::uint64_t full = 0;     ///< posts to a queue without room
  std::uint64_t invalid = 0;  ///< posts that were refused otherwise
  std::uint64_t quiet = 0;    ///< times that all was quiet
  std::uint64_t races = 0;    ///< queue pairs taken down under traffic
  /// Races that some, but not all, sends of the queue pair outran.
  std::uint64_t split_races = 0;
  std::array<std::uint64_t, kNotification + 1> calls{};
  std::array<std::array<std::uint64_t, rvt::IB_QPS_ERR + 1>, rvt::IB_QPS_ERR + 1> moves{};
};

/// Machine and reference side by side.
class Comparison {
 public:
  Comparison(const Rules& rules, std::uint64_t seed);

  /// Does one step on both. @return how they differ; empty: not at all
  std::string step(const Operation& op);
  /// All that is still due has to come, and all memory has to be the same.
  std::string finish();
  const Reference& reference() const { return reference_; }
  const Census& census() const { return census_; }

 private:
  void connect_all();
  void control(const Operation& op);
  void post(const Operation& op);
  void poll(std::size_t cq, std::size_t entries);
  void quiet();
  void race(const Operation& op);
  SeenEnd look_at(std::size_t end, const std::vector<rvt::ib_wc>& all) const;
  void settle_and_compare(const std::vector<rvt::ib_wc>& seen);
  void drain(std::size_t cq);
  void compare(const rvt::ib_wc& wc);
  void compare_touched();
  void compare_memory(std::size_t node, std::uint32_t offset, std::uint32_t bytes);
  void compare_states();
  void compare_calls();
  void resynchronise(std::size_t index);
  void differ(const std::string& what);
  void expect(const char* what, long long is, long long should);

  Reference reference_;
  Machine machine_;
  Census census_;
  std::string difference_;
};

}  // namespace hcasim::differential
