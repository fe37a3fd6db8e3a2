// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/resource.h>

#include <csignal>
#include <cstdint>

namespace hcasim::support {

/// Writing a file beyond so many bytes fails while this lives, as on a full disk. Devices and pipes
/// are left alone.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(std::uint64_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

  /// What an error says then.
  static constexpr const char* kReason = "File too large";

 private:
  rlimit before_{};
};

}  // namespace hcasim::support
