// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// One value into the member of one key, checked for type and range.
#pragma once

#include "sim/config/assignment.hpp"
#include "sim/config/schema.hpp"

namespace hcasim::sim {

/// A value as an error shows it.
std::string found_text(const AssignedValue& value);

/// @throws InputError at the value's place when its type or range is not the key's
void assign(const Key& key, const Assignment& assignment);

}  // namespace hcasim::sim
