// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace hcasim::tools {

/// Plug-ins of the project's own receive-queue RTL that were built with the program, in its usual
/// sizes: beside it, or where they are installed. Empty when there are none.
std::vector<std::string> own_rtl();

}  // namespace hcasim::tools
