// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <cstddef>
#include <string>

namespace hcasim::sim {

/// The name of a file, or of an empty folder, that must not outlive the program. While this object
/// lives a signal handler can remove it.
class TransientName {
 public:
  /// To be made in the same SignalsHeld as the file itself.
  explicit TransientName(std::string name);
  ~TransientName();
  TransientName(const TransientName&) = delete;
  TransientName& operator=(const TransientName&) = delete;

  const std::string& text() const { return name_; }

 private:
  std::string name_;
  std::size_t slot_;
};

/// Removes everything that has such a name, the newest first. For a signal handler that ends the
/// program.
void remove_transient_names() noexcept;

/// Holds up all signals while it lives, so that no file is there without being known as transient.
class SignalsHeld {
 public:
  SignalsHeld();
  ~SignalsHeld();
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_;
};

}  // namespace hcasim::sim
