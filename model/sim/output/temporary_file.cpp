// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/output/temporary_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>

namespace hcasim::sim {

namespace {

[[noreturn]] void fail(int error) {
  throw std::system_error(error, std::generic_category());
}

// The place's own name is left out: with more letters it might be too long for the file system.
std::string next_name() {
  static std::uint64_t number = 0;
  return ".hcasim-" + std::to_string(::getpid()) + "-" + std::to_string(number++) + ".tmp";
}

}  // namespace

TemporaryFile::TemporaryFile(const std::filesystem::path& place) : place_(place) {
  const SignalsHeld held;
  std::string name;
  do {
    name = place.parent_path() / next_name();
    descriptor_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) fail(errno);
  name_.emplace(name);
}

TemporaryFile::~TemporaryFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!name_) return;
  const SignalsHeld held;
  ::unlink(name_->text().c_str());
  name_.reset();
}

void TemporaryFile::close() {
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (descriptor >= 0 && ::close(descriptor) != 0) fail(errno);
}

void TemporaryFile::move_to_place() {
  const SignalsHeld held;
  std::filesystem::rename(name_->text(), place_);
  name_.reset();
}

}  // namespace hcasim::sim
