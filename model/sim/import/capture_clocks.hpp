// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "hcasim/hw/time.hpp"

namespace hcasim::sim {

/// How far the clock of `other` is ahead of that of `first`, from the packets that each of the two
/// shows exactly once, among their first ones: the median for each destination, and of these the
/// middle between the least and the greatest, so that the time under way to one end and to the
/// other cancels out. Where packets go one way only, it remains in the result.
/// @return 0 when they share no packet
/// @throws fabric::CaptureError when a file cannot be read
hw::Time clock_difference(const std::filesystem::path& first, const std::filesystem::path& other);

}  // namespace hcasim::sim
