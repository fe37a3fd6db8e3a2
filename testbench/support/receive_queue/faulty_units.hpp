// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/cosim/side.hpp"

/// Sides with a fault, to see that it is found, reported and shrunk. Each is the model with its
/// ports tampered with.
namespace hcasim::testbench {

/// `remaining` is one too many when a take empties the last slot of the ring.
sim::cosim::Side wrong_remaining_at_wrap();

/// The limit event is shown a second time after it was accepted.
sim::cosim::Side limit_event_twice();

/// The first WQE of a queue that was INVALIDATEd and INITed again has the data of its former life.
sim::cosim::Side stale_line_after_init();

}  // namespace hcasim::testbench
