// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/output/output_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "hcasim/sim/input_error.hpp"
#include "sim/output/output_place.hpp"
#include "sim/output/temporary_file.hpp"

namespace hcasim::sim {

OutputFile::OutputFile(const std::filesystem::path& path, OutputSet* set) : path_(path), set_(set) {
  open();
  buffer_.reserve(kEnough + 4096);
}

OutputFile::~OutputFile() {
  discard();
}

void OutputFile::check(const std::filesystem::path& path) {
  const OutputPlace place = find_output_place(path);
  if (!place.straight) {
    OutputFile file(path);
  } else if (::access(path.c_str(), W_OK) != 0) {
    throw OutputError(path.string(), std::strerror(errno));
  }
}

void OutputFile::open() {
  const OutputPlace place = find_output_place(path_);
  if (place.straight) {
    descriptor_ = open_straight(path_);
    if (descriptor_ < 0) fail(std::strerror(errno));
    return;
  }
  try {
    temporary_ = std::make_unique<TemporaryFile>(place.file);
  } catch (const std::system_error& error) {
    fail(error.code().message());
  }
  descriptor_ = temporary_->descriptor();
}

void OutputFile::discard() {
  if (temporary_ == nullptr && descriptor_ >= 0) ::close(descriptor_);
  temporary_.reset();
  descriptor_ = -1;
}

void OutputFile::fail(const std::string& reason) {
  discard();
  throw OutputError(path_.string(), reason);
}

void OutputFile::flush() {
  if (descriptor_ < 0) fail("the file is closed");
  const char* data = buffer_.data();
  std::size_t left = buffer_.size();
  while (left != 0) {
    const ssize_t written = ::write(descriptor_, data, left);
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
  if (temporary_ == nullptr) return close();
  descriptor_ = -1;
  try {
    temporary_->close();
    if (set_ != nullptr) return set_->add(path_, std::move(temporary_));
    temporary_->move_to_place();
    temporary_.reset();
  } catch (const std::system_error& error) {
    fail(error.code().message());
  }
}

void OutputFile::close() {
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (::close(descriptor) != 0) fail(std::strerror(errno));
}

}  // namespace hcasim::sim
