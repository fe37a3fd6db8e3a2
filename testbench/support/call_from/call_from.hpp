// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>

/// Where the data verbs of the conformance tests are called from. They may be called from anywhere,
/// so all tests are to pass whichever it is.
namespace hcasim::support {

enum class CallFrom : std::uint8_t {
  kThread,   ///< where the test calls them: its main thread, or a task of the node
  kMethod,   ///< an SC_METHOD
  kHandler,  ///< an interrupt handler, where possible in the middle of another data verb
};

/// "thread", "method" or "handler"; null is kThread.
/// @throws std::invalid_argument for anything else
CallFrom parse_call_from(const char* text);
/// What HCASIM_CALL_FROM says. It is read once.
CallFrom call_from();

/// Makes an SC_METHOD that runs `body`, once, as soon as the kernel runs.
void spawn_method(std::function<void()> body);
/// Runs `body` in an SC_METHOD, without letting simulated time pass. Not while the
/// kernel runs. What `body` throws comes out here.
void run_in_method(const std::function<void()>& body);
/// True when the caller is an SC_METHOD.
bool inside_method();

}  // namespace hcasim::support
