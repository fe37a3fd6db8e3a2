// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "support/replaced_new.hpp"

/// Counts the heap allocations of a program. Included in exactly one source file of it.
namespace hcasim::testing {

/// Allocations made while it lives.
class AllocationCounter {
 public:
  std::uint64_t count() const { return allocations - before_; }

 private:
  std::uint64_t before_ = allocations;
};

}  // namespace hcasim::testing
