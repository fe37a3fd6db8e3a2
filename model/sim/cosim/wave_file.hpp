// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace hcasim::sim::cosim {

/// A waveform that is being written: first the variables, then times in rising order with what
/// changes at them.
class WaveFile {
 public:
  WaveFile() = default;
  WaveFile(const WaveFile&) = delete;
  WaveFile& operator=(const WaveFile&) = delete;
  virtual ~WaveFile() = default;

  virtual void open_scope(std::string_view name) = 0;
  virtual void close_scope() = 0;
  /// @return number of the variable for change()
  virtual std::uint32_t variable(std::string_view name, unsigned bits) = 0;
  virtual void time(std::uint64_t cycle) = 0;
  /// @param bits digits 0, 1 or x, the highest bit first, as many as the variable has
  virtual void change(std::uint32_t variable, const std::string& bits) = 0;
  /// Ends it. @return the bytes of the file
  virtual std::string finish() = 0;
};

/// What a waveform is called behind the dot: `fst` where its writer was found when hcasim was
/// built, else `vcd`.
std::string_view wave_extension();

/// A file of that format. @throws std::system_error
std::unique_ptr<WaveFile> make_wave_file();

}  // namespace hcasim::sim::cosim
