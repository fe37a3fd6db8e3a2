// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/trace/byte_source.hpp"

#include <zstd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <istream>
#include <string_view>
#include <vector>

namespace hcasim::sim::trace {
namespace {

constexpr std::size_t kMagicBytes = 4;

[[noreturn]] void fail(std::string expected, std::string found) {
  throw SourceFault{std::move(expected), std::move(found)};
}

class FileSource : public ByteSource {
 public:
  explicit FileSource(const std::filesystem::path& path) : file_(std::fopen(path.c_str(), "rb")) {
    if (file_ == nullptr) fail("a readable file", std::strerror(errno));
    // The reader has a large buffer of its own.
    std::setvbuf(file_.get(), nullptr, _IONBF, 0);
  }

  std::size_t read(char* data, std::size_t size) override {
    const std::size_t count = std::fread(data, 1, size, file_.get());
    if (count == 0 && std::ferror(file_.get()) != 0) fail("a readable file", std::strerror(errno));
    return count;
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
};

class StreamSource : public ByteSource {
 public:
  explicit StreamSource(std::istream& stream) : stream_(stream) {}

  std::size_t read(char* data, std::size_t size) override {
    stream_.read(data, static_cast<std::streamsize>(size));
    if (stream_.bad()) fail("a readable stream", "an error of the stream");
    return static_cast<std::size_t>(stream_.gcount());
  }

 private:
  std::istream& stream_;
};

// Puts bytes that were read to look at them back in front of the rest.
class PrefixedSource : public ByteSource {
 public:
  PrefixedSource(std::string prefix, std::unique_ptr<ByteSource> rest)
      : prefix_(std::move(prefix)), rest_(std::move(rest)) {}

  std::size_t read(char* data, std::size_t size) override {
    if (used_ == prefix_.size()) return rest_->read(data, size);
    const std::size_t count = prefix_.copy(data, size, used_);
    used_ += count;
    return count;
  }

 private:
  std::string prefix_;
  std::size_t used_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

class ZstdSource : public ByteSource {
 public:
  explicit ZstdSource(std::unique_ptr<ByteSource> compressed)
      : compressed_(std::move(compressed)),
        context_(ZSTD_createDStream()),
        buffer_(ZSTD_DStreamInSize()) {}

  std::size_t read(char* data, std::size_t size) override {
    ZSTD_outBuffer out{data, size, 0};
    while (out.pos == 0) {
      // Output may still be held back inside after all input is taken.
      if (in_.pos == in_.size && !flushing_ && !refill()) return 0;
      const std::size_t result = ZSTD_decompressStream(context_.get(), &out, &in_);
      if (ZSTD_isError(result) != 0) fail("a zstd stream", ZSTD_getErrorName(result));
      inside_frame_ = result != 0;
      // A finished frame holds nothing back, and an empty call would look for the next one.
      flushing_ = inside_frame_ && out.pos == out.size;
    }
    return out.pos;
  }

 private:
  bool refill() {
    in_ = {buffer_.data(), compressed_->read(buffer_.data(), buffer_.size()), 0};
    if (in_.size != 0) return true;
    if (inside_frame_) fail("the rest of a zstd stream", "end of file");
    return false;
  }

  struct Free {
    void operator()(ZSTD_DStream* context) const { ZSTD_freeDStream(context); }
  };
  std::unique_ptr<ByteSource> compressed_;
  std::unique_ptr<ZSTD_DStream, Free> context_;
  std::vector<char> buffer_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool inside_frame_ = true;  // an empty compressed file has no frame and is refused
  bool flushing_ = false;
};

/// The first bytes are those of zstd: of data, or of a frame to be skipped, which has 16 of them.
bool is_zstd(std::string_view start) {
  constexpr std::string_view kData("\x28\xb5\x2f\xfd", kMagicBytes);
  constexpr std::string_view kSkippedFrom2nd("\x2a\x4d\x18", kMagicBytes - 1);
  if (start == kData) return true;
  return start.size() == kMagicBytes && (static_cast<unsigned char>(start[0]) & 0xf0) == 0x50 &&
         start.substr(1) == kSkippedFrom2nd;
}

std::unique_ptr<ByteSource> decompressed(std::unique_ptr<ByteSource> source) {
  std::string start(kMagicBytes, '\0');
  std::size_t have = 0;
  while (have < start.size()) {
    const std::size_t count = source->read(start.data() + have, start.size() - have);
    if (count == 0) break;
    have += count;
  }
  start.resize(have);
  auto whole = std::make_unique<PrefixedSource>(start, std::move(source));
  if (!is_zstd(start)) return whole;
  return std::make_unique<ZstdSource>(std::move(whole));
}

}  // namespace

std::unique_ptr<ByteSource> open_file(const std::filesystem::path& path) {
  return decompressed(std::make_unique<FileSource>(path));
}

std::unique_ptr<ByteSource> open_stream(std::istream& stream) {
  return decompressed(std::make_unique<StreamSource>(stream));
}

}  // namespace hcasim::sim::trace
