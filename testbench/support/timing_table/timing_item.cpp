// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Splits one item of a timing-table row into a port, words and values.
#include "support/timing_table/timing_item.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <stdexcept>

namespace hcasim::testbench {

namespace {

std::uint64_t parse(std::string_view text, int base) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value, base);
  if (result.ec != std::errc{} || result.ptr != end) {
    throw std::runtime_error("expected a number, found '" + std::string(text) + "'");
  }
  return value;
}

}  // namespace

TimingItem::TimingItem(std::string_view text) {
  std::istringstream in{std::string(text)};
  if (!(in >> port_)) throw std::runtime_error("expected a port between separators");
  for (std::string word; in >> word;) {
    const auto equals = word.find('=');
    const bool fresh =
        equals == std::string::npos
            ? words_.insert(word).second
            : values_.emplace(word.substr(0, equals), word.substr(equals + 1)).second;
    if (!fresh) throw std::runtime_error("'" + word + "' is given twice");
  }
}

std::uint64_t TimingItem::number(const std::string& key) {
  const auto found = values_.find(key);
  if (found == values_.end()) throw std::runtime_error(port_ + ": expected " + key + "=");
  const std::string text = found->second;
  values_.erase(found);
  const bool hex = text.starts_with("0x");
  return parse(hex ? std::string_view(text).substr(2) : text, hex ? 16 : 10);
}

std::uint64_t TimingItem::number_or(const std::string& key, std::uint64_t otherwise) {
  return values_.contains(key) ? number(key) : otherwise;
}

hw::rq::Beat TimingItem::data() {
  hw::rq::Beat beat{};
  const auto found = values_.find("data");
  if (found == values_.end()) return beat;
  const std::string text = found->second;
  values_.erase(found);
  const auto slash = text.find('/');
  const auto low = static_cast<std::uint8_t>(parse(text.substr(0, slash), 16));
  const auto high = slash == std::string::npos
                        ? low
                        : static_cast<std::uint8_t>(parse(text.substr(slash + 1), 16));
  std::fill(beat.begin(), beat.begin() + beat.size() / 2, low);
  std::fill(beat.begin() + beat.size() / 2, beat.end(), high);
  return beat;
}

std::size_t TimingItem::one_of(std::span<const std::string_view> names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (flag(std::string(names[i]))) return i;
  }
  std::string expected;
  for (const auto name : names) expected += " " + std::string(name);
  throw std::runtime_error(port_ + ": expected one of" + expected);
}

void TimingItem::finish() const {
  if (!words_.empty()) throw std::runtime_error(port_ + ": unknown word " + *words_.begin());
  if (!values_.empty()) throw std::runtime_error(port_ + ": unknown key " + values_.begin()->first);
}

}  // namespace hcasim::testbench
