// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hcasim/hw/receive_queue_plugin.hpp>
#include <memory>
#include <stdexcept>
#include <string>

namespace hcasim::hca {

/// A plug-in that cannot be used. what() is one line: `FILE: expected X, found Y`.
class ReceiveQueueLibraryError : public std::runtime_error {
 public:
  ReceiveQueueLibraryError(const std::string& file, const std::string& expected,
                           const std::string& found)
      : std::runtime_error(file + ": expected " + expected + ", found " + found),
        file_(file),
        expected_(expected),
        found_(found) {}

  const std::string& file() const { return file_; }
  const std::string& expected() const { return expected_; }
  const std::string& found() const { return found_; }

 private:
  std::string file_;
  std::string expected_;
  std::string found_;
};

/// A loaded plug-in with a receive-queue unit (hcasim/hw/receive_queue_plugin.hpp). Stays loaded as
/// long as anyone holds it.
class ReceiveQueueLibrary {
 public:
  /// Loads `file`; a name without a slash is one in the current folder.
  /// @throws ReceiveQueueLibraryError
  static std::shared_ptr<const ReceiveQueueLibrary> load(const std::string& file);

  ReceiveQueueLibrary(const ReceiveQueueLibrary&) = delete;
  ReceiveQueueLibrary& operator=(const ReceiveQueueLibrary&) = delete;
  ~ReceiveQueueLibrary();

  const std::string& file() const { return file_; }
  const hw::rq::Plugin& plugin() const { return *plugin_; }

 private:
  ReceiveQueueLibrary(std::string file, void* handle, const hw::rq::Plugin* plugin);

  std::string file_;
  void* handle_;
  const hw::rq::Plugin* plugin_;
};

/// Finds out whether a program can use a plug-in with this table; `file` stands in the error.
/// @throws ReceiveQueueLibraryError
void check_plugin(const hw::rq::Plugin& plugin, const std::string& file);

}  // namespace hcasim::hca
