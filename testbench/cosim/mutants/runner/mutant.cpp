// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "mutant.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace hcasim::testbench {

namespace cosim = sim::cosim;

namespace {

std::vector<Mutant> read_mutants(const std::string& family, const std::string& list) {
  std::ifstream in(list);
  std::vector<Mutant> found;
  for (std::string line; std::getline(in, line);) {
    found.push_back({family, static_cast<unsigned>(found.size() + 1), line});
  }
  if (found.empty()) throw std::runtime_error(list + ": no mutants");
  return found;
}

}  // namespace

MutantFamily::MutantFamily(std::string name, const std::string& plugin, const std::string& list)
    : name_(std::move(name)),
      library_(hca::ReceiveQueueLibrary::load(plugin)),
      mutants_(read_mutants(name_, list)) {}

namespace {

/// The profile of that name with rings that fit the narrow indices.
cosim::Profile narrow_profile(const std::string& name, const hw::rq::PluginWidths& widths) {
  cosim::Profile profile = *cosim::find_profile(name);
  // Heads beyond the end of the ring have to fit, too.
  const unsigned longest = (1U << widths.index) - 4;
  profile.largest_ring = std::min(profile.largest_ring, longest);
  profile.smallest_ring = std::min(profile.smallest_ring, longest);
  return profile;
}

}  // namespace

// The plug-in looks at the environment when it makes a unit.
std::optional<Kill> MutantFamily::run(unsigned number, const Attempt& attempt) const {
  ::setenv("HCASIM_MUTANT", std::to_string(number).c_str(), 1);
  const std::vector<cosim::Side> sides{cosim::model_side(), cosim::rtl_side(library_)};
  const cosim::Profile profile = narrow_profile(attempt.profile, library_->plugin().widths);
  const cosim::RandomRun run{&profile, library_->plugin().parameters, attempt.seed, attempt.cycles};
  try {
    const cosim::RunResult result = cosim::cross_check(sides, run);
    if (!result.failing) return std::nullopt;
    const cosim::Difference& where = result.failing->difference;
    return Kill{std::string(where.port()) + "." + std::string(where.field()),
                {attempt.profile, attempt.seed, result.cycles}};
  } catch (const hca::ReceiveQueueLibraryError&) {
    return Kill{"reset.fault", {attempt.profile, attempt.seed, 0}};
  }
}

std::vector<MutantFamily> rtl_families() {
  std::vector<MutantFamily> families;
  const std::string folder = HCASIM_MUTANTS_FOLDER;
  families.emplace_back("drawn", folder + "mutants_drawn.so", HCASIM_DRAWN_MUTANTS);
  families.emplace_back("by_hand", folder + "mutants_by_hand.so", HCASIM_MUTANTS_BY_HAND);
  return families;
}

std::vector<Attempt> all_attempts() {
  static constexpr hca::Cycle kStages[] = {1'000, 8'000, 40'000};
  std::vector<Attempt> attempts;
  std::uint64_t seed = 0;
  for (const hca::Cycle cycles : kStages) {
    ++seed;
    for (const cosim::Profile& profile : cosim::profiles()) {
      attempts.push_back({std::string(profile.name), seed, cycles});
    }
  }
  return attempts;
}

std::optional<Kill> hunt(const MutantFamily& family, unsigned number) {
  for (const Attempt& attempt : all_attempts()) {
    if (auto kill = family.run(number, attempt)) return kill;
  }
  return std::nullopt;
}

}  // namespace hcasim::testbench
