// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hcasim::tools {

/// From now on SIGINT, SIGTERM and SIGHUP, as far as they are not ignored, end the program with
/// status 128 + signal and leave no temporary file.
void watch_signals();

/// Whether to stop, for what can stop in good order. From the first call on the first signal only
/// changes the answer; the next one still ends the program.
bool interrupted();

/// Ends the program with the status of the signal that interrupted() tells of. What is left of a
/// simulation goes with the process: taken down in order, it would go on first.
[[noreturn]] void end_interrupted();

}  // namespace hcasim::tools
