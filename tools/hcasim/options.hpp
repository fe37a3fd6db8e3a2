// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What the command line asks for, free of the library that parses it.
#pragma once

#include <hcasim/sim/config.hpp>

#include <stdexcept>
#include <string>
#include <variant>

namespace hcasim::tools {

/// Exit statuses of the program.
inline constexpr int kGood = 0;
inline constexpr int kRunFailed = 1;
inline constexpr int kBadInput = 2;

/// `hcasim config`
struct ConfigOptions {
  sim::ConfigSources sources;
  bool markdown = false;  ///< the reference of all keys instead of the values
};

/// `--help` or `--version`: a text for stdout and nothing else to do.
struct PrintOptions {
  std::string text;
};

using Options = std::variant<PrintOptions, ConfigOptions>;

/// A command line that cannot be understood; what() is one line.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// @throws UsageError
Options parse_command_line(int argc, const char* const* argv);

}  // namespace hcasim::tools
