// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What values must fulfil together, beyond the range of each.
#pragma once

#include <hcasim/sim/config.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hcasim::sim {

struct Violation {
  std::vector<std::string_view> keys;  ///< those that take part; the first is the one to be named
  std::string expected;
};

/// The first rule that `node` breaks.
std::optional<Violation> find_violation(const NodeConfig& node);

}  // namespace hcasim::sim
