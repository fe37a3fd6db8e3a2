// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The subcommands, one cmd_*.cpp each. They return the exit status and report faults by exception.
#pragma once

#include <stdexcept>

#include "options.hpp"

namespace hcasim::tools {

/// A run that had begun and came to nothing; what() says why.
class RunFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

int run_command(const PrintCommand& command);
int run_command(const ConfigCommand& command);
int run_command(const ImportCommand& command);
int run_command(const RunCommand& command);

}  // namespace hcasim::tools
