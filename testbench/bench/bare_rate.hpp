// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace hcasim::bench {

/// Events per second of the SystemC kernel alone: one SC_METHOD on its own timed event.
double bare_events_per_second(std::uint64_t events);

}  // namespace hcasim::bench
