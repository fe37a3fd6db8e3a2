// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Which receive-queue units a command asks for.
#pragma once

#include <hcasim/sim/receive_queue_choice.hpp>

#include <string>
#include <vector>

namespace hcasim::tools {

/// What `--rq KIND` and any number of `--rtl FILE` mean. Without a file it is the project's own
/// RTL.
/// @throws sim::InputError
sim::ReceiveQueueChoice receive_queue_choice(const std::string& kind,
                                             const std::vector<std::string>& libraries);

/// The project's own RTL in the sizes of the default configuration: beside the program, or where it
/// is installed.
/// @throws sim::InputError when it was not built
std::string own_rtl();

}  // namespace hcasim::tools
