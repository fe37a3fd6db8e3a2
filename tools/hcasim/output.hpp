// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace hcasim::tools {

/// Writes results to stdout, all of them or none that counts: a full disk or a closed pipe is an
/// error, not a short output.
/// @throws sim::OutputError
void write_stdout(std::string_view text);

}  // namespace hcasim::tools
