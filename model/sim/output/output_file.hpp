// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "sim/output/output_set.hpp"

namespace hcasim::sim {

class TemporaryFile;

/// A file that is written beside its place and gets its name in commit(). Without commit() nothing
/// is left of it, and what had the name before still has it. A symbolic link stays and what it
/// leads to is replaced; bytes for a device or a pipe go straight there.
class OutputFile {
 public:
  /// @param set gives the file its name together with others, later; null: commit() does
  /// @throws OutputError
  explicit OutputFile(const std::filesystem::path& path, OutputSet* set = nullptr);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Finds out whether such a file could be written, and leaves nothing. @throws OutputError
  static void check(const std::filesystem::path& path);

  /// Goes to the file when enough has come together. @throws OutputError
  void write(std::string_view bytes);
  /// Where text may be appended directly; call flush_if_full() after it.
  std::string& buffer() { return buffer_; }
  void flush_if_full() {
    if (buffer_.size() >= kEnough) flush();
  }
  /// Stores all and gives the file its name, or hands it to the set. @throws OutputError
  void commit();

 private:
  static constexpr std::size_t kEnough = std::size_t{64} * 1024;

  void open();
  void flush();
  void close();
  void discard();
  [[noreturn]] void fail(const std::string& reason);

  std::filesystem::path path_;
  OutputSet* set_;
  std::unique_ptr<TemporaryFile> temporary_;  // null for what is no regular file
  int descriptor_ = -1;
  std::string buffer_;
};

}  // namespace hcasim::sim
