// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// A file that comes into being under its name only when it is complete.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

namespace hcasim::sim::trace {

/// Writes `FILE.tmp`, compressed with zstd if asked to; commit() gives it its name, and without
/// commit() it is removed.
class ByteSink {
 public:
  /// @throws OutputError
  ByteSink(const std::filesystem::path& path, bool compress);
  ~ByteSink();
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;

  /// @throws OutputError
  void write(std::string_view bytes);
  /// Ends the file and renames it. @throws OutputError
  void commit();

 private:
  struct Compressor;

  [[noreturn]] void fail(int error);
  void write_raw(const char* data, std::size_t size);
  void compress(std::string_view bytes, bool last);
  void discard();

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::FILE* file_;
  std::unique_ptr<Compressor> compressor_;
};

}  // namespace hcasim::sim::trace
