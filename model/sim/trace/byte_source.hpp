// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Where the bytes of a trace come from: a file or a stream, decompressed on the way if need be.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <stdexcept>
#include <string>

namespace hcasim::sim::trace {

/// The bytes cannot be had; what was expected and what came instead. The caller knows the line.
struct SourceFault {
  std::string expected;
  std::string found;
};

/// A sequence of bytes read once from start to end.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Reads up to `size` bytes. @return how many; 0 at the end only
  /// @throws SourceFault
  virtual std::size_t read(char* data, std::size_t size) = 0;
};

/// Bytes of a file, decompressed when they begin as zstd does. @throws SourceFault
std::unique_ptr<ByteSource> open_file(const std::filesystem::path& path);
/// The same for a stream that outlives the result.
std::unique_ptr<ByteSource> open_stream(std::istream& stream);

}  // namespace hcasim::sim::trace
