// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The schema itself: every parameter has a key, every key is complete and has a legal default.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>

#include "sim/config/rules.hpp"
#include "sim/config/schema.hpp"

namespace hcasim::sim {
namespace {

struct Bytes {
  const std::byte* first;
  std::size_t size;
};

Bytes bytes_of(const Key& key) {
  return std::visit(
      [](const auto* member) {
        const auto* first = reinterpret_cast<const std::byte*>(member);
        return Bytes{first, sizeof *member};
      },
      key.field);
}

/// Offsets, within `part`, of the words to which no key is bound; `word` is the smallest member.
template <typename Part>
std::vector<std::size_t> unbound(const KeyList& keys, const Part& part, std::size_t word) {
  const auto* begin = reinterpret_cast<const std::byte*>(&part);
  std::set<std::size_t> bound;
  for (const Key& key : keys) {
    const Bytes bytes = bytes_of(key);
    if (bytes.first < begin || bytes.first >= begin + sizeof part) continue;
    const auto offset = static_cast<std::size_t>(bytes.first - begin);
    for (std::size_t i = 0; i < bytes.size; i += word) bound.insert(offset + i);
  }
  std::vector<std::size_t> result;
  for (std::size_t offset = 0; offset < sizeof part; offset += word) {
    if (!bound.contains(offset)) result.push_back(offset);
  }
  return result;
}

double value_of(const Key& key) {
  return std::visit([](const auto* member) { return static_cast<double>(*member); }, key.field);
}

TEST(ConfigSchema, EveryParameterHasAKey) {
  NodeConfig node;
  const KeyList keys = keys_of(node);
  EXPECT_THAT(unbound(keys, node.host, 4), testing::IsEmpty());
  EXPECT_THAT(unbound(keys, node.pcie, 4), testing::IsEmpty());
  EXPECT_THAT(unbound(keys, node.hca, 4), testing::IsEmpty());
  EXPECT_THAT(unbound(keys, node.fabric, 4), testing::IsEmpty());
  // Its members end in padding, so they are counted: one more, and this does not compile.
  const auto& [blue_flame, copy, on_wire, compat] = node.rvt;
  const void* const members[] = {&blue_flame, &copy, &on_wire, &compat};
  for (const void* member : members) {
    EXPECT_TRUE(
        std::ranges::any_of(keys, [&](const Key& key) { return bytes_of(key).first == member; }));
  }
}

TEST(ConfigSchema, NoTwoKeysShareAPathOrAMember) {
  std::set<std::string_view> paths;
  std::set<const std::byte*> members;
  for (const Key& key : default_keys()) {
    EXPECT_TRUE(paths.insert(key.path).second) << key.path;
    EXPECT_TRUE(members.insert(bytes_of(key).first).second) << key.path;
  }
}

TEST(ConfigSchema, TheKeysOfATableStandTogether) {
  std::set<std::string_view> seen;
  std::string_view table;
  for (const Key& key : default_keys()) {
    if (table_of(key) == table) continue;
    table = table_of(key);
    EXPECT_TRUE(seen.insert(table).second) << "[" << table << "] appears twice";
  }
}

TEST(ConfigSchema, EveryKeyIsComplete) {
  for (const Key& key : default_keys()) {
    SCOPED_TRACE(key.path);
    EXPECT_NE(key.path.find('.'), std::string_view::npos);
    EXPECT_FALSE(key.text.empty());
    EXPECT_NE(key.text.back(), '.');
    EXPECT_LT(key.range.minimum, key.range.maximum);
    if (key.source.starts_with("assumed")) {
      EXPECT_TRUE(key.source.starts_with("assumed: ") && key.source.size() > 15) << "no reason";
    }
    EXPECT_GT(key.source.size(), 8U);
    // A bar would break the table of the reference page, a line break the comments.
    EXPECT_EQ((std::string(key.text) + std::string(key.source)).find_first_of("|\n"),
              std::string::npos);
  }
}

TEST(ConfigSchema, EveryDefaultIsInItsRange) {
  for (const Key& key : default_keys()) {
    SCOPED_TRACE(key.path);
    EXPECT_GE(value_of(key), key.range.minimum);
    EXPECT_LE(value_of(key), key.range.maximum);
    if (!key.range.power_of_two) continue;
    for (const double value : {value_of(key), key.range.minimum, key.range.maximum}) {
      EXPECT_TRUE(std::has_single_bit(static_cast<std::uint64_t>(value)));
    }
  }
  EXPECT_FALSE(find_violation(NodeConfig{}).has_value());
}

TEST(ConfigSchema, TheUnitFollowsFromTheSuffix) {
  const auto unit = [](std::string_view path) { return unit_of(Key{path, {}, {}, {}, {}}); };
  EXPECT_EQ(unit("host.post_send_ns"), "ns");
  EXPECT_EQ(unit("hca.doorbell.latency_cycles"), "cycles");
  EXPECT_EQ(unit("pcie.mps_bytes"), "bytes");
  EXPECT_EQ(unit("fabric.rate_gbps"), "Gb/s");
  EXPECT_EQ(unit("hca.core_clock_mhz"), "MHz");
  EXPECT_EQ(unit("pcie.generation"), "");
}

}  // namespace
}  // namespace hcasim::sim
