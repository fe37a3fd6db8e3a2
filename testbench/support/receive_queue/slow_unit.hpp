// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/cosim/side.hpp"

namespace hcasim::testbench {

/// The model behind a register that keeps each take for some cycles: right, and of another latency.
sim::cosim::Side slow_side();

}  // namespace hcasim::testbench
