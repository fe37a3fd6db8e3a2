// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/record/json_writer.hpp"

#include <array>
#include <charconv>
#include <utility>

#include "sim/record/text.hpp"

namespace hcasim::sim {

void JsonWriter::append_string(std::string_view value) {
  constexpr std::string_view kHex = "0123456789abcdef";
  text_ += '"';
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20) {
      text_.append("\\u00").append(1, kHex[byte >> 4]).append(1, kHex[byte & 15]);
    } else {
      if (c == '"' || c == '\\') text_ += '\\';
      text_ += c;
    }
  }
  text_ += '"';
}

void JsonWriter::begin_member(std::string_view key) {
  if (!first_) text_ += ',';
  first_ = false;
  text_.append(1, '\n').append(std::size_t{2} * depth_, ' ');
  append_string(key);
  text_ += ": ";
}

void JsonWriter::begin_object(std::string_view key) {
  begin_member(key);
  text_ += '{';
  ++depth_;
  first_ = true;
}

void JsonWriter::end_object() {
  --depth_;
  if (!first_) text_.append(1, '\n').append(std::size_t{2} * depth_, ' ');
  text_ += '}';
  first_ = false;
}

void JsonWriter::integer(std::string_view key, std::uint64_t value) {
  begin_member(key);
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text_.append(digits.data(), end.ptr);
}

void JsonWriter::decimal(std::string_view key, std::int64_t parts, Decimals decimals) {
  begin_member(key);
  append_decimal(text_, parts, decimals);
}

void JsonWriter::boolean(std::string_view key, bool value) {
  begin_member(key);
  text_ += value ? "true" : "false";
}

void JsonWriter::string(std::string_view key, std::string_view value) {
  begin_member(key);
  append_string(value);
}

void JsonWriter::null(std::string_view key) {
  begin_member(key);
  text_ += "null";
}

std::string JsonWriter::finish() {
  end_object();
  text_ += '\n';
  return std::move(text_);
}

}  // namespace hcasim::sim
