// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Cuts a byte source into lines without copying them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/trace/byte_source.hpp"

namespace hcasim::sim::trace {

/// Longest line in bytes.
inline constexpr std::size_t kLongestLine = 65536;

/// Lines of a byte source, one after the other.
class LineSource {
 public:
  /// `name` stands for the file in errors.
  LineSource(std::unique_ptr<ByteSource> source, std::string name);

  /// The next line, without its end (LF or CRLF; the last line needs none). It is valid until the
  /// next call. @return false at the end
  /// @throws InputError for a line too long, a NUL byte, or bytes that cannot be had
  bool next(std::string_view& line);
  /// Number of the line that next() gave last, from 1; 0 before the first call.
  std::uint64_t number() const { return number_; }
  /// Name of the source.
  const std::string& name() const { return name_; }

 private:
  bool refill();
  bool finish(std::string_view text, std::string_view& line);

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // first byte not yet given
  std::size_t end_ = 0;    // first byte not yet read
  std::uint64_t number_ = 0;
};

}  // namespace hcasim::sim::trace
