// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "mutant.hpp"

namespace hcasim::testbench {

/// What is known of one mutant, as a line of verdicts.txt says it:
/// `drawn 12 | rq_judging.sv:57 inv Y[0] of eq | killed: take_rsp.slot, mixed, seed 1, cycle 812`.
struct Verdict {
  Mutant mutant;
  std::optional<Kill> kill;
  std::string reason;  ///< why it is equivalent; empty if nobody says so
};

std::string to_text(const Verdict& verdict);

/// The lines of verdicts.txt by `family number | text`. @throws std::runtime_error
std::map<std::string, Verdict> read_verdicts(const std::string& file);

/// The reasons of equivalent.txt, whose lines are `family | text | reason`, by `family | text`.
std::map<std::string, std::string> read_reasons(const std::string& file);

/// `family number | text`.
std::string key_of(const Mutant& mutant);

/// Runs a mutant until it is killed: first with what killed it before, if `known` says so, then
/// with all attempts.
std::optional<Kill> kill(const MutantFamily& family, const Mutant& mutant,
                         const std::map<std::string, Verdict>& known);

}  // namespace hcasim::testbench
