// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "workload.hpp"

namespace hcasim::bench {

/// All workloads of the benchmark, each with this many messages, or more where queues are many.
std::vector<Workload> workloads(std::uint64_t messages);

}  // namespace hcasim::bench
