// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>

#include "reference.hpp"

namespace hcasim::differential {

/// Draws steps, looking at the reference so that most of them are legal, few need a quiet point of
/// their own, and pairs that have failed come up again.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}
  Operation next(const Reference& reference, std::uint32_t id);

 private:
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
  bool one_in(std::uint32_t n) { return below(n) == 0; }
  Operation draw(const Reference& reference);
  void draw_key(const Reference& reference, Operation& op);
  Operation send(const Reference& reference);
  Operation receive(const Reference& reference);
  Operation arm();
  void resize(const Reference& reference, Operation& op);
  Operation control(const Reference& reference);
  bool race(const Reference& reference, Operation& op);
  Operation repair(const Reference& reference, std::size_t slot);
  Flaw send_flaw(rvt::ib_wr_opcode opcode);

  std::mt19937_64 random_;
};

}  // namespace hcasim::differential
