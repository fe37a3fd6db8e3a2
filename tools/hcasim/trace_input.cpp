// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "trace_input.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <hcasim/sim/input_error.hpp>
#include <vector>

namespace hcasim::tools {
namespace {

/// A descriptor that is closed at the end.
struct Opened {
  explicit Opened(int opened) : descriptor(opened) {}
  ~Opened() {
    if (descriptor >= 0) ::close(descriptor);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  int descriptor;
};

bool is_read_once(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return false;
  return S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || ::isatty(descriptor) == 1;
}

int open_nameless() {
  std::error_code none;
  std::string name = std::filesystem::temp_directory_path(none) / "hcasim-XXXXXX";
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file >= 0) ::unlink(name.c_str());
  return file;
}

bool write_all(int to, const char* data, std::size_t size) {
  while (size != 0) {
    const ssize_t written = ::write(to, data, size);
    if (written < 0) return false;
    data += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

}  // namespace

TraceInput::TraceInput(const std::string& name) : name_(name), path_(name) {
  const Opened input(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (input.descriptor < 0 || !is_read_once(input.descriptor)) return;  // the reader will tell
  const auto cannot_store = [&] {
    throw sim::OutputError("a copy of " + name_ + " for temporary use", std::strerror(errno));
  };
  stored_ = open_nameless();
  if (stored_ < 0) cannot_store();
  std::vector<char> buffer(std::size_t{1} << 16);
  ssize_t count = 0;
  while ((count = ::read(input.descriptor, buffer.data(), buffer.size())) > 0) {
    if (!write_all(stored_, buffer.data(), static_cast<std::size_t>(count))) cannot_store();
  }
  if (count < 0) throw sim::InputError(name_, 0, 0, "a readable file", std::strerror(errno));
  path_ = "/proc/self/fd/" + std::to_string(stored_);
}

TraceInput::~TraceInput() {
  if (stored_ >= 0) ::close(stored_);
}

}  // namespace hcasim::tools
