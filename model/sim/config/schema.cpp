// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/config/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>

namespace hcasim::sim {
namespace {

struct Suffix {
  std::string_view ending;
  std::string_view unit;
};

constexpr std::array kSuffixes = {
    Suffix{"_ns", "ns"},           Suffix{"_cycles", "cycles"}, Suffix{"_bytes", "bytes"},
    Suffix{"_gbps", "Gb/s"},       Suffix{"_mhz", "MHz"},       Suffix{"_packets", "packets"},
    Suffix{"_credits", "credits"}, Suffix{"_wqes", "WQEs"},     Suffix{"_gb_per_s", "GB/s"},
};

}  // namespace

KeyList keys_of(NodeConfig& node) {
  KeyList keys;
  add_keys(keys, node.host);
  add_keys(keys, node.pcie);
  add_keys(keys, node.hca);
  add_keys(keys, node.fabric);
  add_keys(keys, node.rvt);
  return keys;
}

const KeyList& default_keys() {
  static NodeConfig node;
  static const KeyList keys = keys_of(node);
  return keys;
}

std::string_view table_of(const Key& key) {
  return key.path.substr(0, key.path.rfind('.'));
}

std::string_view name_of(const Key& key) {
  return key.path.substr(key.path.rfind('.') + 1);
}

std::string_view type_of(const Key& key) {
  constexpr std::array<std::string_view, 4> kNames = {"integer", "number", "boolean", "text"};
  return kNames.at(key.field.index());
}

std::string_view unit_of(const Key& key) {
  const auto* found = std::ranges::find_if(
      kSuffixes, [&](const Suffix& suffix) { return key.path.ends_with(suffix.ending); });
  return found == kSuffixes.end() ? std::string_view{} : found->unit;
}

std::string range_text(const Key& key) {
  if (std::holds_alternative<bool*>(key.field)) return "true or false";
  if (std::holds_alternative<fabric::Topology*>(key.field)) {
    return fmt::format("\"{}\"", fmt::join(kTopologyWords, "\" or \""));
  }
  return fmt::format("{}{} to {}", key.range.power_of_two ? "a power of two from " : "",
                     key.range.minimum, key.range.maximum);
}

std::string number_text(double value) {
  std::string text = fmt::format("{}", value);
  // TOML tells a float from an integer by its point or exponent.
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string value_text(const Key& key) {
  return std::visit(
      [](const auto* value) -> std::string {
        using T = std::remove_cvref_t<decltype(*value)>;
        if constexpr (std::is_same_v<T, double>) {
          return number_text(*value);
        } else if constexpr (std::is_same_v<T, fabric::Topology>) {
          return fmt::format("\"{}\"", kTopologyWords[static_cast<std::size_t>(*value)]);
        } else {
          return fmt::format("{}", *value);
        }
      },
      key.field);
}

bool operator==(const NodeConfig& left, const NodeConfig& right) {
  NodeConfig left_copy = left;
  NodeConfig right_copy = right;
  const KeyList left_keys = keys_of(left_copy);
  const KeyList right_keys = keys_of(right_copy);
  return std::ranges::equal(left_keys, right_keys, {}, value_text, value_text);
}

const NodeConfig& SystemConfig::node(std::string_view name) const {
  const auto found = overrides.find(name);
  return found == overrides.end() ? defaults : found->second;
}

}  // namespace hcasim::sim
