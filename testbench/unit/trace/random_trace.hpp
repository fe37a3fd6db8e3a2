// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Random right traces drawn from the grammar's own tables, so that a new row is covered by itself.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <hcasim/sim/trace.hpp>
#include "sim/trace/grammar.hpp"

namespace hcasim::sim::test {

/// Draws operations on nodes `a` and `b`, each right where it stands.
class RandomTrace {
 public:
  explicit RandomTrace(std::uint64_t seed);

  NameTable& names() { return names_; }
  /// The next operation; the first is a `connect`.
  Operation next();

 private:
  struct Object {
    NameId name;
    trace::ObjectKind kind;
    bool has_peer;
  };
  struct Node {
    NameId name;
    std::vector<Object> objects;
    std::vector<NameId> labels;
  };

  std::uint64_t below(std::uint64_t bound);
  std::uint64_t between(std::uint64_t low, std::uint64_t high);
  NameId pick(std::size_t node, trace::ObjectKind kind);
  Operation connect();
  bool draw(Operation& operation);
  void give(Operation& operation, const trace::KeySet& keys, bool all);
  void give_value(Operation& operation, const trace::KeyRow& row);
  void give_timing(Operation& operation);

  std::mt19937_64 random_;
  NameTable names_;
  std::vector<Node> nodes_;
  std::size_t node_ = 0;  // the one whose operation is being drawn
  std::uint64_t made_ = 0;
};

}  // namespace hcasim::sim::test
