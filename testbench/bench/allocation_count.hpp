// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace hcasim::bench {

/// Calls of operator new in this process so far.
std::uint64_t allocations();

}  // namespace hcasim::bench
