// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/record/output_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "hcasim/sim/input_error.hpp"

namespace hcasim::sim {

OutputFile::OutputFile(const std::filesystem::path& path)
    : path_(path), temporary_(path.string() + ".tmp"), file_(-1) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path_, ignored)) {
    throw OutputError(path_.string(), std::strerror(EISDIR));
  }
  file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) throw OutputError(path_.string(), std::strerror(errno));
  buffer_.reserve(kEnough + 4096);
}

OutputFile::~OutputFile() {
  if (file_ >= 0) discard();
}

void OutputFile::discard() {
  ::close(file_);
  file_ = -1;
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
}

void OutputFile::fail(const std::string& reason) {
  if (file_ >= 0) discard();
  throw OutputError(path_.string(), reason);
}

void OutputFile::flush() {
  if (file_ < 0) fail("the file is closed");
  const char* data = buffer_.data();
  std::size_t left = buffer_.size();
  while (left != 0) {
    const ssize_t written = ::write(file_, data, left);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(std::strerror(errno));
    data += written;
    left -= static_cast<std::size_t>(written);
  }
  buffer_.clear();
}

void OutputFile::write(std::string_view bytes) {
  buffer_.append(bytes);
  flush_if_full();
}

void OutputFile::commit() {
  flush();
  // Some file systems tell of a full disk only here.
  const int closed = ::close(file_);
  const int error = errno;
  file_ = -1;
  std::error_code renamed;
  if (closed == 0) std::filesystem::rename(temporary_, path_, renamed);
  if (closed == 0 && !renamed) return;
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
  fail(closed == 0 ? renamed.message() : std::strerror(error));
}

}  // namespace hcasim::sim
