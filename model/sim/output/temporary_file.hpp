// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "sim/output/transient_name.hpp"

namespace hcasim::sim {

/// A file beside a place, under a name that no other file has, with the rights that the umask
/// leaves. It goes away with this object, or with a signal, unless it was moved to its place.
class TemporaryFile {
 public:
  /// @throws std::system_error
  explicit TemporaryFile(const std::filesystem::path& place);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  int descriptor() const { return descriptor_; }
  /// No more is written. Some file systems tell of a full disk only here.
  /// @throws std::system_error
  void close();
  /// Gives the closed file its place; another file that had it is gone.
  /// @throws std::system_error
  void move_to_place();

 private:
  std::filesystem::path place_;
  int descriptor_ = -1;
  std::optional<TransientName> name_;  // none once it is in its place
};

}  // namespace hcasim::sim
