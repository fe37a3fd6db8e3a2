// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The printed configuration reads back as itself; the reference page is up to date.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <random>
#include <sstream>

#include "sim/config/rules.hpp"
#include "sim/config/schema.hpp"

namespace hcasim::sim {
namespace {

using Random = std::mt19937_64;

void draw(const Key& key, Random& random) {
  std::visit(
      [&](auto* member) {
        using T = std::remove_pointer_t<decltype(member)>;
        std::uniform_real_distribution<double> values(key.range.minimum, key.range.maximum);
        double value = values(random);
        if (key.range.power_of_two) {
          value = static_cast<double>(std::bit_floor(static_cast<std::uint64_t>(value)));
        }
        // Flags and words are one of two.
        constexpr bool kNumber = std::is_same_v<T, double> || std::is_same_v<T, std::uint32_t>;
        *member = static_cast<T>(kNumber ? value : value > 0.5 ? 1 : 0);
      },
      key.field);
}

/// A legal node: values that must fit together keep those of `node` when the draw does not fit.
void draw(NodeConfig& node, Random& random) {
  for (const Key& key : keys_of(node)) {
    if (random() % 2 == 0) continue;
    const NodeConfig before = node;
    draw(key, random);
    if (find_violation(node)) node = before;
  }
}

SystemConfig draw_system(Random& random) {
  SystemConfig config;
  draw(config.defaults, random);
  for (const char* name : {"a", "node_2", "_7-b"}) {
    if (random() % 2 == 0) continue;
    NodeConfig node = config.defaults;
    if (random() % 4 != 0) draw(node, random);
    config.overrides.emplace(name, node);
  }
  for (const Key& key : default_keys()) {
    if (random() % 8 == 0) config.sources.emplace(key.path, "a \"source\", p.\t7 \\ \x7f\xc3\xa9");
  }
  return config;
}

TEST(ConfigPrinting, ReadingBackIsTheIdentity) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    const SystemConfig config = draw_system(random);
    const std::string text = print_effective(config);
    const SystemConfig back = parse_config(text, "printed");
    ASSERT_TRUE(back == config) << "seed " << seed << "\n" << text;
    ASSERT_EQ(print_effective(back), text) << "seed " << seed;
  }
}

TEST(ConfigPrinting, EveryKeyIsDescribed) {
  const std::string text = print_effective({});
  for (const Key& key : default_keys()) {
    EXPECT_THAT(text, testing::HasSubstr(std::string(name_of(key)) + " = " + value_text(key)));
  }
  EXPECT_THAT(text, testing::HasSubstr("# integer in bytes, a power of two from 128 to 4096, "
                                       "default 256\n"));
  EXPECT_THAT(text, testing::HasSubstr("# source: IEEE 802.3: 100 Gb/s Ethernet\n"));
}

TEST(ConfigPrinting, TheDefaultStaysVisibleWhenTheValueDiffers) {
  SystemConfig config;
  config.defaults.pcie.tags = 8;
  EXPECT_THAT(print_effective(config), testing::HasSubstr("default 256\n"));
  EXPECT_THAT(print_effective(config), testing::HasSubstr("\ntags = 8\n"));
}

TEST(ConfigPrinting, TheSourceOfADefaultIsNotGivenForAnotherValue) {
  SystemConfig config;
  config.defaults.fabric.rate_gbps = 25;
  EXPECT_THAT(print_effective(config), testing::HasSubstr("# source of the default: IEEE 802.3"));
  config.sources["fabric.rate_gbps"] = "the board";
  EXPECT_THAT(print_effective(config), testing::HasSubstr("# source: see sources.fabric.rate"));
  EXPECT_THAT(print_effective(config),
              testing::HasSubstr("[sources]\nfabric.rate_gbps = \"the board\"\n"));
}

TEST(ConfigPrinting, NoLineIsLongerThanAHundredColumns) {
  std::istringstream text(print_effective({}));
  for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST(ConfigPrinting, ANumberIsWrittenSoThatItReadsBackAsThatNumber) {
  EXPECT_EQ(number_text(100.0), "100.0");
  EXPECT_EQ(number_text(25.78125), "25.78125");
  EXPECT_EQ(number_text(0.1), "0.1");
}

TEST(ConfigReference, IsNotStale) {
  std::ifstream file(HCASIM_SOURCE_DIR "/model/sim/config/README.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(page, print_key_reference())
      << "run: hcasim config --markdown > model/sim/config/README.md";
}

}  // namespace
}  // namespace hcasim::sim
