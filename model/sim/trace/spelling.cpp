// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/trace/spelling.hpp"

#include <arpa/inet.h>

#include <hcasim/sim/trace_operation.hpp>

#include <array>
#include <charconv>
#include <cstdint>

namespace hcasim::sim::trace {
namespace {

constexpr auto kNameBytes = [] {
  std::array<bool, 256> table{};
  for (char c = 'a'; c <= 'z'; ++c) table[static_cast<unsigned char>(c)] = true;
  for (char c = 'A'; c <= 'Z'; ++c) table[static_cast<unsigned char>(c)] = true;
  for (char c = '0'; c <= '9'; ++c) table[static_cast<unsigned char>(c)] = true;
  table['_'] = table['-'] = true;
  return table;
}();

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Picoseconds in a unit, 0 for no unit.
hw::Time unit_of(std::string_view text) {
  if (text == "ns") return hw::kNanosecond;
  if (text == "us") return hw::kMicrosecond;
  if (text == "ms") return hw::kMillisecond;
  if (text == "s") return hw::kSecond;
  return 0;
}

template <typename... Base>
void append(std::string& text, std::uint64_t value, Base... base) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base...).ptr;
  text.append(digits.data(), end);
}

}  // namespace

bool is_name(std::string_view text) {
  if (text.empty() || text.size() > kLongestName) return false;
  if (is_digit(text.front()) || text.front() == '-') return false;
  for (const char c : text) {
    if (!kNameBytes[static_cast<unsigned char>(c)]) return false;
  }
  return true;
}

bool parse_number(std::string_view text, std::uint64_t& value) {
  int base = 10;
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    base = 16;
  }
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  return error == std::errc() && stop == end;
}

bool parse_time(std::string_view text, hw::Time& time) {
  std::size_t digits = 0;
  while (digits < text.size() && (is_digit(text[digits]) || text[digits] == '.')) ++digits;
  const hw::Time unit = unit_of(text.substr(digits));
  const std::size_t point = std::min(text.find('.'), digits);
  std::uint64_t whole = 0;
  if (unit == 0 || !parse_number(text.substr(0, point), whole)) return false;
  hw::Time value = 0;
  if (whole > static_cast<std::uint64_t>(hw::kNever)) return false;
  if (__builtin_mul_overflow(static_cast<hw::Time>(whole), unit, &value)) return false;
  hw::Time place = unit;
  for (std::size_t i = point + 1; i < digits; ++i) {
    if (place % 10 != 0 || !is_digit(text[i])) return false;
    place /= 10;
    if (__builtin_add_overflow(value, place * (text[i] - '0'), &value)) return false;
  }
  if (point + 1 == digits || value > kLongestTime) return false;
  time = value;
  return true;
}

void append_number(std::string& text, std::uint64_t value) {
  append(text, value);
}

void append_hex(std::string& text, std::uint64_t value) {
  text += "0x";
  append(text, value, 16);
}

bool parse_gid(std::string_view text, std::uint64_t& high, std::uint64_t& low) {
  std::array<char, INET6_ADDRSTRLEN> ended{};
  if (text.size() >= ended.size()) return false;
  text.copy(ended.data(), text.size());
  std::array<std::uint8_t, 16> bytes{};
  if (inet_pton(AF_INET6, ended.data(), bytes.data()) != 1) return false;
  high = low = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::uint64_t& half = i < 8 ? high : low;
    half = half << 8 | bytes[i];
  }
  return true;
}

void append_gid(std::string& text, std::uint64_t high, std::uint64_t low) {
  std::array<std::uint8_t, 16> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>((i < 8 ? high : low) >> (56 - 8 * (i % 8)));
  }
  std::array<char, INET6_ADDRSTRLEN> ended{};
  inet_ntop(AF_INET6, bytes.data(), ended.data(), ended.size());
  text += ended.data();
}

void append_time(std::string& text, hw::Time time) {
  append(text, static_cast<std::uint64_t>(time / hw::kNanosecond));
  auto rest = static_cast<int>(time % hw::kNanosecond);
  if (rest != 0) text += '.';
  for (int place = 100; rest != 0; place /= 10) {
    text += static_cast<char>('0' + rest / place);
    rest %= place;
  }
  text += "ns";
}

}  // namespace hcasim::sim::trace
