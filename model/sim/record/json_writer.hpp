// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hcasim/hw/time.hpp"
#include "sim/record/text.hpp"

namespace hcasim::sim {

/// Writes one JSON object, indented, its members in the order of the calls. Numbers are printed
/// from integers, so that the bytes are the same everywhere.
class JsonWriter {
 public:
  JsonWriter() { text_ = "{"; }

  void begin_object(std::string_view key);
  void end_object();
  void integer(std::string_view key, std::uint64_t value);
  /// A value given in parts of a unit.
  void decimal(std::string_view key, std::int64_t parts, Decimals decimals);
  /// In nanoseconds.
  void time(std::string_view key, hw::Time value) { decimal(key, value, Decimals::kThree); }
  void boolean(std::string_view key, bool value);
  void null(std::string_view key);
  void string(std::string_view key, std::string_view value);

  /// Ends the outermost object. @return the text with a newline at its end
  std::string finish();

 private:
  void begin_member(std::string_view key);
  void append_string(std::string_view value);

  std::string text_;
  unsigned depth_ = 1;
  bool first_ = true;  // no member of the innermost object yet
};

}  // namespace hcasim::sim
