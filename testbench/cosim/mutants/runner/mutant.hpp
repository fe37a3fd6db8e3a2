// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/cosim/cross_check.hpp"

namespace hcasim::testbench {

/// One mutant of those that a plug-in holds.
struct Mutant {
  std::string family;   ///< `drawn` by yosys, or written `by_hand`
  unsigned number = 0;  ///< which the plug-in is told; 0 is the right RTL
  std::string text;     ///< what it does; one line
};

/// What a mutant is run with.
struct Attempt {
  std::string profile;
  std::uint64_t seed = 1;
  hca::Cycle cycles = 0;
};

/// Where a mutant gave itself away.
struct Kill {
  std::string what;  ///< `port.field`
  Attempt attempt;   ///< its `cycles`: how many it took
};

/// The mutants of a family and the plug-in that holds them.
class MutantFamily {
 public:
  /// @throws hca::ReceiveQueueLibraryError
  MutantFamily(std::string name, const std::string& plugin, const std::string& list);

  const std::string& name() const { return name_; }
  const std::vector<Mutant>& mutants() const { return mutants_; }

  /// Runs the cross-check of the model and a mutant, or of the right RTL.
  std::optional<Kill> run(unsigned number, const Attempt& attempt) const;

 private:
  std::string name_;
  std::shared_ptr<const hca::ReceiveQueueLibrary> library_;
  std::vector<Mutant> mutants_;
};

/// The families that were built.
std::vector<MutantFamily> rtl_families();

/// The attempts that a mutant has to survive, the cheapest first.
std::vector<Attempt> all_attempts();

/// Goes through all_attempts().
std::optional<Kill> hunt(const MutantFamily& family, unsigned number);

}  // namespace hcasim::testbench
