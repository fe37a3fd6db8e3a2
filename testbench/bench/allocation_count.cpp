// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "allocation_count.hpp"

#include "support/allocation_counter.hpp"

namespace hcasim::bench {
std::uint64_t allocations() {
  return testing::allocations;
}
}  // namespace hcasim::bench
