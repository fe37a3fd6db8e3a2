// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The subcommands, one cmd_*.cpp each. They return the exit status and report faults by exception.
#pragma once

#include "options.hpp"

namespace hcasim::tools {

int run_command(const PrintOptions& options);
int run_command(const ConfigOptions& options);

}  // namespace hcasim::tools
