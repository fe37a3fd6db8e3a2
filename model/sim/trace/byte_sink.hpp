// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// A file that comes into being under its name only when it is complete.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "sim/output/output_file.hpp"

namespace hcasim::sim::trace {

/// An output file, compressed with zstd if asked to.
class ByteSink {
 public:
  /// @throws OutputError
  ByteSink(const std::filesystem::path& path, bool compress);
  ~ByteSink();
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;

  /// @throws OutputError
  void write(std::string_view bytes);
  /// Ends the file and gives it its name. @throws OutputError
  void commit();

 private:
  struct Compressor;

  void compress(std::string_view bytes, bool last);

  std::filesystem::path path_;
  OutputFile file_;
  std::unique_ptr<Compressor> compressor_;
};

}  // namespace hcasim::sim::trace
