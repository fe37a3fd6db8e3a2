// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace hcasim::tools {

/// The trace of a run, which reads it several times: what can be read once only, such as a pipe or
/// a terminal, is put into a file without a name first.
class TraceInput {
 public:
  /// @throws sim::InputError, sim::OutputError
  explicit TraceInput(const std::string& name);
  ~TraceInput();
  TraceInput(const TraceInput&) = delete;
  TraceInput& operator=(const TraceInput&) = delete;

  /// As the user gave it.
  const std::string& name() const { return name_; }
  /// Where to open it.
  const std::string& path() const { return path_; }

 private:
  std::string name_;
  std::string path_;
  int stored_ = -1;
};

}  // namespace hcasim::tools
