// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "hcasim/hw/time.hpp"

namespace hcasim::sim {

/// How far the clock of `other` is ahead of that of `first`: the median over the packets that each
/// of the two shows exactly once, among their first ones. Packets of both directions are taken, so
/// the time that they are under way evens out.
/// @return 0 when they share no packet
/// @throws fabric::CaptureError when a file cannot be read
hw::Time clock_difference(const std::filesystem::path& first, const std::filesystem::path& other);

}  // namespace hcasim::sim
