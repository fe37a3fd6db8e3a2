// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "workload.hpp"

namespace hcasim::bench {

/// All workloads of the benchmark, each with this many messages, or more where queues are many.
std::vector<Workload> workloads(std::uint64_t messages);

/// Two nodes joined by this many connections of usual depth, and nothing to do.
Workload idle_queues(std::size_t queues);

}  // namespace hcasim::bench
