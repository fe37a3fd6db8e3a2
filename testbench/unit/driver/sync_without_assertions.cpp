// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// A part of a program that was built without assertions.
#undef NDEBUG
#define NDEBUG
#include "unit/driver/sync_without_assertions.hpp"

namespace hcasim::rvt {

void hold_twice_without_assertions(spinlock_t& lock) {
  const SpinGuard once(lock);
  const SpinGuard again(lock);
}

}  // namespace hcasim::rvt
