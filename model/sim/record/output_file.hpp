// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace hcasim::sim {

/// A file that is written as FILE.tmp and gets its name in commit(). Without commit() nothing is
/// left of it.
class OutputFile {
 public:
  /// @throws OutputError
  explicit OutputFile(const std::filesystem::path& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Goes to the file when enough has come together. @throws OutputError
  void write(std::string_view bytes);
  /// Where text may be appended directly; call flush_if_full() after it.
  std::string& buffer() { return buffer_; }
  void flush_if_full() {
    if (buffer_.size() >= kEnough) flush();
  }
  /// Stores all and renames. @throws OutputError
  void commit();

 private:
  static constexpr std::size_t kEnough = std::size_t{64} * 1024;

  void flush();
  void discard();
  [[noreturn]] void fail(const std::string& reason);

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int file_;
  std::string buffer_;
};

}  // namespace hcasim::sim
