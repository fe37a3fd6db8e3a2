// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace hcasim::sim {

/// The parser makes a table of each part of a dotted key, one within the other, and walks through
/// them by recursion; it limits nested values but not these.
/// @param name stands for the text in errors
/// @throws InputError for a key of too many parts
void check_nesting(std::string_view text, const std::string& name);

}  // namespace hcasim::sim
