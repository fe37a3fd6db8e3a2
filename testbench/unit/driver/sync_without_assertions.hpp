// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hcasim/rvt/sync.hpp"

namespace hcasim::rvt {

/// Takes a lock twice where locks are not checked.
void hold_twice_without_assertions(spinlock_t& lock);

}  // namespace hcasim::rvt
