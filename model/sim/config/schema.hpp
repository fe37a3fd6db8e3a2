// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The one table of configuration keys. Reading, checking, printing and documentation follow from
// it, so a new parameter is one row in one keys_*.cpp and nothing else.
#pragma once

#include <hcasim/sim/config.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hcasim::sim {

/// The member that a key stands for; its type is the type of the key.
using Field = std::variant<std::uint32_t*, double*, bool*, fabric::Topology*>;

/// Values that a number may take, both ends included.
struct Range {
  double minimum;
  double maximum;
  bool power_of_two = false;
};

constexpr Range between(double minimum, double maximum) {
  return {minimum, maximum};
}
constexpr Range power_of_two(double minimum, double maximum) {
  return {minimum, maximum, true};
}
constexpr Range flag() {
  return {0, 1};
}
constexpr Range words() {
  return {0, 1};
}

/// The words for the values of a fabric::Topology, by its number.
inline constexpr std::array<std::string_view, 2> kTopologyWords = {"auto", "switch"};

struct Key {
  std::string_view path;    ///< as written in a file, tables included: `pcie.mps_bytes`
  Field field;              ///< the member of the NodeConfig that keys_of() was given
  Range range;              ///< ignored for flags and words
  std::string_view text;    ///< what it is, one sentence
  std::string_view source;  ///< publication, or `assumed: ` and the reason
};

using KeyList = std::vector<Key>;

/// All keys, bound to the members of `node`, in the order of documentation.
KeyList keys_of(NodeConfig& node);

/// The keys bound to a node that has every default, for questions about the schema itself.
const KeyList& default_keys();

/// The table of a key, `hca.doorbell` of `hca.doorbell.fifo_depth`, and its name in that table.
std::string_view table_of(const Key& key);
std::string_view name_of(const Key& key);

/// `integer`, `number`, `boolean` or `text`.
std::string_view type_of(const Key& key);

/// Unit of measure as the key's suffix tells it; empty when it is a plain number.
std::string_view unit_of(const Key& key);

/// `1 to 5`, `a power of two from 128 to 4096`, `true or false`, `"auto" or "switch"`.
std::string range_text(const Key& key);

/// The value of the key's member, as TOML.
std::string value_text(const Key& key);
std::string number_text(double value);

void add_keys(KeyList& keys, pcie::Parameters& pcie);
void add_keys(KeyList& keys, host::Parameters& host);
void add_keys(KeyList& keys, hca::Parameters& hca);
void add_keys(KeyList& keys, fabric::Parameters& fabric);
void add_keys(KeyList& keys, fabric::SwitchParameters& at_switch);
void add_keys(KeyList& keys, RvtParameters& rvt);

}  // namespace hcasim::sim
