// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/engine/coupling.hpp"

#include <algorithm>

namespace hcasim::sim {

namespace {
Time add_times(Time a, Time b) {
  return a == hw::kNever || b == hw::kNever ? hw::kNever : a + b;
}
}  // namespace

std::size_t Coupling::add(Engine& engine) {
  engines_.push_back(&engine);
  for (auto& row : latency_) row.push_back(hw::kNever);
  latency_.emplace_back(engines_.size(), hw::kNever);
  return engines_.size() - 1;
}

void Coupling::connect(std::size_t from, std::size_t to, Time latency) {
  latency_[from][to] = std::min(latency_[from][to], latency);
  const std::size_t n = engines_.size();
  for (std::size_t i = 0; i < n; ++i) {  // paths through the new link
    for (std::size_t j = 0; j < n; ++j) {
      if (i == j) continue;
      const Time head = i == from ? 0 : latency_[i][from];
      const Time tail = j == to ? 0 : latency_[to][j];
      latency_[i][j] =
          std::min(latency_[i][j], add_times(add_times(head, latency_[from][to]), tail));
    }
  }
}

Time Coupling::horizon(std::size_t index) const {
  Time limit = hw::kNever;
  for (std::size_t j = 0; j < engines_.size(); ++j) {
    if (j == index) continue;
    limit = std::min(limit, add_times(engines_[j]->next_time(), latency_[j][index]));
  }
  return limit;
}

std::size_t Coupling::earliest() const {
  std::size_t best = 0;
  for (std::size_t i = 1; i < engines_.size(); ++i) {
    if (engines_[i]->next_time() < engines_[best]->next_time()) best = i;
  }
  return best;
}

}  // namespace hcasim::sim
