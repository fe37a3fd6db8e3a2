// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The waveform as VCD, where FST cannot be written.
#ifndef HCASIM_FST

#include "sim/cosim/wave_file.hpp"

namespace hcasim::sim::cosim {
namespace {

class VcdFile final : public WaveFile {
 public:
  void open_scope(std::string_view name) override {
    text_ += "$scope module " + std::string(name) + " $end\n";
  }
  void close_scope() override { text_ += "$upscope $end\n"; }
  std::uint32_t variable(std::string_view name, unsigned bits) override {
    text_ += "$var wire " + std::to_string(bits) + " v" + std::to_string(count_) + " " +
             std::string(name);
    if (bits > 1) text_ += " [" + std::to_string(bits - 1) + ":0]";
    text_ += " $end\n";
    return count_++;
  }
  void time(std::uint64_t cycle) override {
    if (!defined_) text_ += "$enddefinitions $end\n";
    defined_ = true;
    text_ += "#" + std::to_string(cycle) + "\n";
  }
  void change(std::uint32_t variable, const std::string& bits) override {
    text_ += "b" + bits + " v" + std::to_string(variable) + "\n";
  }
  std::string finish() override { return std::move(text_); }

 private:
  std::string text_ = "$timescale 1 ns $end\n";
  std::uint32_t count_ = 0;
  bool defined_ = false;
};

}  // namespace

std::string_view wave_extension() {
  return "vcd";
}

std::unique_ptr<WaveFile> make_wave_file() {
  return std::make_unique<VcdFile>();
}

}  // namespace hcasim::sim::cosim

#endif
