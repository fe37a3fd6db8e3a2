// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The subcommands, one cmd_*.cpp each. They return the exit status and report faults by exception.
#pragma once

#include <hcasim/sim/run_observer.hpp>

#include "options.hpp"

namespace hcasim::tools {

int run_command(const PrintCommand& command);
int run_command(const ConfigCommand& command);
int run_command(const CosimCommand& command);
int run_command(const ImportCommand& command);
/// @param observer may be null
int run_command(const RunCommand& command, sim::RunObserver* observer);

}  // namespace hcasim::tools
