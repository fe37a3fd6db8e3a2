// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <string>

namespace hcasim::support {

/// Devices that a test makes for itself: a fault might replace the machine's own.
enum class Device : unsigned { kNull = 3, kFull = 7 };

/// Makes the device. @return false where that is not allowed
inline bool make_device(const std::string& path, Device device) {
  constexpr unsigned kMemory = 1;
  if (::mknod(path.c_str(), S_IFCHR | 0600, makedev(kMemory, static_cast<unsigned>(device))) != 0) {
    return false;
  }
  const int opened = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (opened >= 0) ::close(opened);
  return opened >= 0;
}

}  // namespace hcasim::support
