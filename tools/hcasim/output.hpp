// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace hcasim::tools {

/// Writes results to stdout, all of them or none that counts: a full disk or a closed pipe is an
/// error, not a short output.
/// @throws sim::OutputError
void write_stdout(std::string_view text);

/// What an error says, in words.
std::string reason_of(const std::exception& error);

/// Says on stderr why the program ends, in one line whatever `reason` quotes: names of files and
/// keys may hold line breaks. Returns `status`.
int complain(std::string reason, int status);

}  // namespace hcasim::tools
