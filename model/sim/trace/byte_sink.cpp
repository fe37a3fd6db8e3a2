// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/trace/byte_sink.hpp"

#include <zstd.h>

#include <cerrno>
#include <cstring>

#include <hcasim/sim/input_error.hpp>

namespace hcasim::sim::trace {

struct ByteSink::Compressor {
  struct Free {
    void operator()(ZSTD_CStream* stream) const { ZSTD_freeCStream(stream); }
  };
  std::unique_ptr<ZSTD_CStream, Free> context{ZSTD_createCStream()};
  std::vector<char> buffer = std::vector<char>(ZSTD_CStreamOutSize());
};

ByteSink::ByteSink(const std::filesystem::path& path, bool compress)
    : path_(path), temporary_(path.string() + ".tmp"), file_(nullptr) {
  if (compress) {
    compressor_ = std::make_unique<Compressor>();
    // A flipped bit in a stored trace is then an error, not another trace.
    ZSTD_CCtx_setParameter(compressor_->context.get(), ZSTD_c_checksumFlag, 1);
  }
  file_ = std::fopen(temporary_.c_str(), "wb");
  if (file_ == nullptr) throw OutputError(path_.string(), std::strerror(errno));
}

ByteSink::~ByteSink() {
  discard();
}

void ByteSink::discard() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  file_ = nullptr;
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
}

void ByteSink::fail(int error) {
  discard();
  throw OutputError(path_.string(), std::strerror(error));
}

void ByteSink::write_raw(const char* data, std::size_t size) {
  if (file_ == nullptr) throw OutputError(path_.string(), "the file is closed");
  if (std::fwrite(data, 1, size, file_) != size) fail(errno);
}

void ByteSink::compress(std::string_view bytes, bool last) {
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  const ZSTD_EndDirective mode = last ? ZSTD_e_end : ZSTD_e_continue;
  std::size_t rest = 1;
  while (in.pos < in.size || (last && rest != 0)) {
    ZSTD_outBuffer out{compressor_->buffer.data(), compressor_->buffer.size(), 0};
    rest = ZSTD_compressStream2(compressor_->context.get(), &out, &in, mode);
    if (ZSTD_isError(rest) != 0) {
      discard();
      throw OutputError(path_.string(), ZSTD_getErrorName(rest));
    }
    write_raw(compressor_->buffer.data(), out.pos);
  }
}

void ByteSink::write(std::string_view bytes) {
  if (compressor_ != nullptr) return compress(bytes, false);
  write_raw(bytes.data(), bytes.size());
}

void ByteSink::commit() {
  if (compressor_ != nullptr) compress({}, true);
  if (file_ == nullptr) throw OutputError(path_.string(), "the file is closed");
  if (std::fflush(file_) != 0) fail(errno);
  // The name must not change hands before the bytes are known to be stored.
  const bool closed = std::fclose(file_) == 0;
  const int error = errno;
  file_ = nullptr;
  std::error_code renamed;
  if (closed) std::filesystem::rename(temporary_, path_, renamed);
  if (closed && !renamed) return;
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
  throw OutputError(path_.string(), closed ? renamed.message() : std::strerror(error));
}

}  // namespace hcasim::sim::trace
