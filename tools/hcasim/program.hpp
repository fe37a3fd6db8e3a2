// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The whole program but for its main functions, of which a program that watches its runs has
// others.
#pragma once

#include <hcasim/sim/run_observer.hpp>

namespace hcasim::tools {

/// What sc_main() does. Every error becomes one line on stderr and an exit status.
/// @param observer of the run, if there is one
int run_program(int argc, char** argv, sim::RunObserver* observer = nullptr);

/// What main() does: sets the process up and calls sc_main().
int enter(int argc, char** argv);

}  // namespace hcasim::tools
