// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>

namespace hcasim::support {

/// The seed of a randomised test: HCASIM_SEED, else `usual`. It is printed, so that a failure can
/// be repeated.
inline std::uint64_t test_seed(std::uint64_t usual) {
  const char* const given = std::getenv("HCASIM_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 0) : usual;
  std::cout << "seed: HCASIM_SEED=" << seed << '\n';
  return seed;
}

}  // namespace hcasim::support
