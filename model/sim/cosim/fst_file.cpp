// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The waveform as FST, by the writer that comes with Verilator.
#ifdef HCASIM_FST

#include <gtkwave/fstapi.h>
#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "sim/cosim/wave_file.hpp"

namespace hcasim::sim::cosim {
namespace {

/// The writer wants a file of its own and others beside it: they live in a folder of their own.
class FstFile final : public WaveFile {
 public:
  FstFile() {
    std::string name = (std::filesystem::temp_directory_path() / "hcasim-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), name);
    }
    folder_ = name;
    writer_ = fstWriterCreate(file().c_str(), 1);
    if (writer_ == nullptr) {
      remove();
      throw std::system_error(EIO, std::generic_category(), name);
    }
    fstWriterSetTimescaleFromString(writer_, "1ns");
    fstWriterSetPackType(writer_, FST_WR_PT_ZLIB);
  }
  ~FstFile() override {
    if (writer_ != nullptr) fstWriterClose(writer_);
    remove();
  }

  void open_scope(std::string_view name) override {
    fstWriterSetScope(writer_, FST_ST_VCD_MODULE, std::string(name).c_str(), nullptr);
  }
  void close_scope() override { fstWriterSetUpscope(writer_); }
  std::uint32_t variable(std::string_view name, unsigned bits) override {
    std::string full(name);
    if (bits > 1) full += " [" + std::to_string(bits - 1) + ":0]";
    return fstWriterCreateVar(writer_, FST_VT_VCD_WIRE, FST_VD_IMPLICIT, bits, full.c_str(), 0);
  }
  void time(std::uint64_t cycle) override { fstWriterEmitTimeChange(writer_, cycle); }
  void change(std::uint32_t variable, const std::string& bits) override {
    fstWriterEmitValueChange(writer_, variable, bits.c_str());
  }
  std::string finish() override {
    fstWriterClose(writer_);
    writer_ = nullptr;
    std::ifstream in(file(), std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (bytes.empty()) throw std::system_error(EIO, std::generic_category(), folder_.string());
    return bytes;
  }

 private:
  std::string file() const { return (folder_ / "waves.fst").string(); }
  void remove() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::filesystem::path folder_;
  void* writer_ = nullptr;
};

}  // namespace

std::string_view wave_extension() {
  return "fst";
}

std::unique_ptr<WaveFile> make_wave_file() {
  return std::make_unique<FstFile>();
}

}  // namespace hcasim::sim::cosim

#endif
