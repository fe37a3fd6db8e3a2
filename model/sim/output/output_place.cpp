// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/output/output_place.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include "hcasim/sim/input_error.hpp"

namespace hcasim::sim {

namespace {

namespace fs = std::filesystem;

using Status = struct stat;

std::optional<Status> status_of(const fs::path& path) {
  Status status{};
  return ::stat(path.c_str(), &status) == 0 ? std::optional(status) : std::nullopt;
}

bool same(const Status& a, const Status& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// The descriptor of standard output or standard error when it is this file, else -1.
int standard_stream(const Status& status) {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    Status opened{};
    if (::fstat(stream, &opened) == 0 && same(opened, status)) return stream;
  }
  return -1;
}

/// Where a symbolic link leads at which there is nothing yet.
fs::path follow(fs::path path) {
  constexpr int kMostLinks = 40;  // as the kernel
  std::error_code none;
  for (int i = 0; i < kMostLinks && fs::is_symlink(fs::symlink_status(path, none)); ++i) {
    path = path.parent_path() / fs::read_symlink(path, none);
  }
  return path;
}

fs::path place_text(const fs::path& path) {
  std::error_code none;
  return fs::weakly_canonical(fs::absolute(follow(path), none), none);
}

}  // namespace

OutputPlace find_output_place(const fs::path& path) {
  const auto fail = [&](const char* reason) { throw OutputError(path.string(), reason); };
  const std::optional<Status> status = status_of(path);
  if (!status) return {follow(path), false};
  if (S_ISDIR(status->st_mode)) fail(std::strerror(EISDIR));
  if (S_ISBLK(status->st_mode)) fail("it is a disk");
  if (!S_ISREG(status->st_mode) || standard_stream(*status) >= 0) return {path, true};
  if (::access(path.c_str(), W_OK) != 0) fail(std::strerror(errno));
  std::error_code error;
  const fs::path file = fs::canonical(path, error);
  if (error) fail(error.message().c_str());
  return {file, false};
}

int open_straight(const fs::path& path) {
  const std::optional<Status> status = status_of(path);
  const int stream = status ? standard_stream(*status) : -1;
  if (stream >= 0) return ::fcntl(stream, F_DUPFD_CLOEXEC, 0);
  return ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
}

bool same_file(const fs::path& a, const fs::path& b) {
  const std::optional<Status> of_a = status_of(a);
  const std::optional<Status> of_b = status_of(b);
  if (of_a && of_b) {
    const bool straight = !S_ISREG(of_a->st_mode) && !S_ISDIR(of_a->st_mode);
    return same(*of_a, *of_b) && !straight;
  }
  return !of_a && !of_b && place_text(a) == place_text(b);
}

}  // namespace hcasim::sim
