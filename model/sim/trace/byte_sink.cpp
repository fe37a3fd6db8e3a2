// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/trace/byte_sink.hpp"

#include <zstd.h>

#include <vector>

#include <hcasim/sim/input_error.hpp>

namespace hcasim::sim::trace {

struct ByteSink::Compressor {
  struct Free {
    void operator()(ZSTD_CStream* stream) const { ZSTD_freeCStream(stream); }
  };
  std::unique_ptr<ZSTD_CStream, Free> context{ZSTD_createCStream()};
  std::vector<char> buffer = std::vector<char>(ZSTD_CStreamOutSize());
};

ByteSink::ByteSink(const std::filesystem::path& path, bool compress) : path_(path), file_(path) {
  if (!compress) return;
  compressor_ = std::make_unique<Compressor>();
  // A flipped bit in a stored trace is then an error, not another trace.
  ZSTD_CCtx_setParameter(compressor_->context.get(), ZSTD_c_checksumFlag, 1);
}

ByteSink::~ByteSink() = default;

void ByteSink::compress(std::string_view bytes, bool last) {
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  const ZSTD_EndDirective mode = last ? ZSTD_e_end : ZSTD_e_continue;
  std::size_t rest = 1;
  while (in.pos < in.size || (last && rest != 0)) {
    ZSTD_outBuffer out{compressor_->buffer.data(), compressor_->buffer.size(), 0};
    rest = ZSTD_compressStream2(compressor_->context.get(), &out, &in, mode);
    if (ZSTD_isError(rest) != 0) throw OutputError(path_.string(), ZSTD_getErrorName(rest));
    file_.write({compressor_->buffer.data(), out.pos});
  }
}

void ByteSink::write(std::string_view bytes) {
  if (compressor_ != nullptr) return compress(bytes, false);
  file_.write(bytes);
}

void ByteSink::commit() {
  if (compressor_ != nullptr) compress({}, true);
  file_.commit();
}

}  // namespace hcasim::sim::trace
