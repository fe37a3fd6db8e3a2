// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The presets of model/sim/presets, built into the program by CMake.
#pragma once

#include <span>
#include <string_view>

namespace hcasim::sim {

struct Preset {
  std::string_view name;
  std::string_view toml;
};

/// All presets in alphabetical order.
std::span<const Preset> presets();

}  // namespace hcasim::sim
