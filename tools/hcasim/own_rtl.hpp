// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace hcasim::tools {

/// The plug-in `name` of the project's own RTL: beside the program, or where it is installed. None
/// when it was not built.
std::optional<std::string> find_own_rtl(const std::string& name);

}  // namespace hcasim::tools
