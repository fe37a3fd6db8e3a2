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
  using std::runtime_error::runtime_error;
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

/// Why a program cannot use a plug-in with this table, in words such as "expected interface version
/// 1, found 2"; empty when it can.
std::string unusable_because(const hw::rq::Plugin& plugin);

}  // namespace hcasim::hca
