// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comparison.hpp"
#include "operation.hpp"
#include "reference.hpp"

namespace hcasim::differential {

/// What became of a sequence.
struct Outcome {
  std::vector<Operation> done;  ///< up to the step at which machine and reference differ
  std::string difference;       ///< empty: they do not
  Census census;
  std::uint64_t carried_out = 0;  ///< steps that were not left out
};

/// Draws `steps` operations and does them. In a process of its own, as a process holds one system;
/// so that also a crash is a difference.
Outcome run_drawn(const Rules& rules, std::uint64_t seed, std::uint32_t steps);
/// Does a given sequence, with the memory of that seed.
Outcome run_given(const Rules& rules, std::uint64_t seed, const std::vector<Operation>& sequence);
/// A sequence that still differs and none of whose steps can be left out; or what came of it
/// when so many steps had been done.
Outcome shrink(const Rules& rules, std::uint64_t seed, const Outcome& failed,
               std::uint64_t most_steps);
/// Seed, difference and trace, for the reader of a failed test.
std::string report(std::uint64_t seed, const Outcome& outcome);

}  // namespace hcasim::differential
