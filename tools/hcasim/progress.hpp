// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hcasim/hw/time.hpp>

#include <cstdint>

namespace hcasim::tools {

/// True when stderr is a terminal, where somebody may be waiting.
bool progress_is_wanted();

/// Shows how far a run has come, on one line that is written over again: not in its first seconds
/// and a few times a second at most.
void show_progress(hw::Time sim_time, std::uint64_t done);

/// Takes the line away, if there is one.
void clear_progress();

}  // namespace hcasim::tools
