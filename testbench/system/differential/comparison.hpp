// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "machine.hpp"
#include "operation.hpp"
#include "reference.hpp"

namespace hcasim::differential {

/// Machine and reference side by side.
class Comparison {
 public:
  Comparison(const Rules& rules, std::uint64_t seed);

  /// Does one step on both. @return how they differ; empty: not at all
  std::string step(const Operation& op);
  /// All that is still due has to come, and all memory has to be the same.
  std::string finish();
  const Reference& reference() const { return reference_; }
  /// Completions that were compared.
  std::uint64_t completions() const { return completions_; }

 private:
  void connect_all();
  void control(const Operation& op);
  void post(const Operation& op);
  void poll(std::size_t cq, std::size_t entries);
  void quiet();
  void drain(std::size_t cq);
  void compare(const rvt::ib_wc& wc);
  void compare_touched();
  void compare_memory(std::size_t node, std::uint32_t offset, std::uint32_t bytes);
  void compare_states();
  void resynchronise(std::size_t index);
  void differ(const std::string& what);
  void expect(const char* what, long long is, long long should);

  Reference reference_;
  Machine machine_;
  std::uint64_t completions_ = 0;
  std::string difference_;
};

}  // namespace hcasim::differential
