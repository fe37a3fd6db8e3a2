// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What is read from files, presets and settings, and what each laid over the other gives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hcasim/sim/config.hpp>

#include <fstream>

namespace hcasim::sim {
namespace {

std::string write_file(const std::string& name, std::string_view text) {
  std::string path = testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

SystemConfig with_settings(std::vector<std::string> settings) {
  return load_config({.preset = "generic", .file = "", .settings = std::move(settings)});
}

TEST(ConfigReading, AnEmptyTextGivesTheDefaults) {
  EXPECT_EQ(parse_config("", "empty"), SystemConfig{});
}

TEST(ConfigReading, EachTypeIsRead) {
  const SystemConfig config = parse_config(R"(
[pcie]
generation = 3
width = 0x8
[fabric]
rate_gbps = 25.78125
[rvt]
loopback_on_wire = true
[hca.doorbell]
fifo_depth = 1_000
)",
                                           "types");
  EXPECT_EQ(config.defaults.pcie.generation, 3U);
  EXPECT_EQ(config.defaults.pcie.width, 8U);
  EXPECT_EQ(config.defaults.fabric.rate_gbps, 25.78125);
  EXPECT_TRUE(config.defaults.rvt.loopback_on_wire);
  EXPECT_EQ(config.defaults.hca.doorbell.fifo_depth, 1000U);
}

TEST(ConfigReading, ANumberMayBeWrittenAsAnInteger) {
  EXPECT_EQ(parse_config("fabric.rate_gbps = 200", "x").defaults.fabric.rate_gbps, 200.0);
}

TEST(ConfigReading, TheGenericPresetIsA100GbAdapterInAGen4X16Slot) {
  const NodeConfig node = load_config({}).defaults;
  EXPECT_EQ(node.fabric.rate_gbps, 100.0);
  EXPECT_EQ(node.pcie.generation, 4U);
  EXPECT_EQ(node.pcie.width, 16U);
  EXPECT_THAT(preset_names(), testing::Contains("generic"));
}

TEST(ConfigReading, EveryPresetLoads) {
  for (const std::string& name : preset_names()) {
    EXPECT_NO_THROW(load_config({.preset = name, .file = "", .settings = {}})) << name;
  }
}

TEST(ConfigReading, ASettingWinsOverAFileAndTheLastSettingOverAll) {
  const std::string file =
      write_file("order.toml", "[pcie]\ntags = 32\nmps_bytes = 512\nwidth = 4\n");
  const SystemConfig config =
      load_config({.preset = "generic",
                   .file = file,
                   .settings = {"pcie.tags=64", "pcie.mps_bytes = 1024", "pcie.tags=128"}});
  EXPECT_EQ(config.defaults.pcie.tags, 128U);
  EXPECT_EQ(config.defaults.pcie.mps_bytes, 1024U);
  EXPECT_EQ(config.defaults.pcie.width, 4U);
}

TEST(ConfigReading, SettingsTakeEachType) {
  const NodeConfig node =
      with_settings({"rvt.rdmavt_compat=true", "fabric.rate_gbps=4e2", "pcie.tags=7"}).defaults;
  EXPECT_TRUE(node.rvt.rdmavt_compat);
  EXPECT_EQ(node.fabric.rate_gbps, 400.0);
  EXPECT_EQ(node.pcie.tags, 7U);
}

TEST(ConfigReading, ANodeDiffersInItsOwnKeysOnly) {
  const SystemConfig config = parse_config(
      "[node.b.pcie]\ngeneration = 3\n[pcie]\nwidth = 8\n"
      "[node.c]\nhca.core_clock_mhz = 250\n",
      "nodes");
  EXPECT_EQ(config.node("a").pcie.generation, 4U);
  EXPECT_EQ(config.node("b").pcie.generation, 3U);
  EXPECT_EQ(config.node("b").pcie.width, 8U);
  EXPECT_EQ(config.node("b").hca.core_clock_mhz, 500U);
  EXPECT_EQ(config.node("c").hca.core_clock_mhz, 250U);
}

TEST(ConfigReading, ASettingForAllReachesANodeThatDiffersElsewhere) {
  const SystemConfig config = with_settings({"node.b.pcie.generation=3", "pcie.width=4"});
  EXPECT_EQ(config.node("b").pcie.generation, 3U);
  EXPECT_EQ(config.node("b").pcie.width, 4U);
}

TEST(ConfigReading, ANodeMayBeNamedWithoutADifference) {
  const SystemConfig config = parse_config("[node.b]\n[node.c.hca]\n", "names");
  EXPECT_EQ(config.overrides.size(), 2U);
  EXPECT_EQ(config.node("b"), config.defaults);
}

TEST(ConfigReading, AValueMayNameItsSource) {
  const std::string file = write_file("sources.toml",
                                      "[sources]\npcie.width = \"board\"\nfabric.rate_gbps = "
                                      "\"switch\"\n[pcie]\nwidth = 8\n");
  const SystemConfig config = load_config({.preset = "generic", .file = file, .settings = {}});
  EXPECT_THAT(config.sources, testing::ElementsAre(testing::Pair("fabric.rate_gbps", "switch"),
                                                   testing::Pair("pcie.width", "board")));
}

TEST(ConfigReading, ASourceGoesWithTheValueItWasGivenFor) {
  const std::string file =
      write_file("lost.toml", "[sources]\npcie.width = \"board\"\n[pcie]\nwidth = 8\n");
  const SystemConfig config = load_config(
      {.preset = "generic", .file = file, .settings = {"pcie.width=4", "node.b.pcie.tags=8"}});
  EXPECT_THAT(config.sources, testing::IsEmpty());
}

TEST(ConfigReading, ConfigurationsThatDifferInOneKeyAreNotEqual) {
  EXPECT_NE(with_settings({"hca.requester.gather_reads=65"}), with_settings({}));
  EXPECT_NE(with_settings({"node.a.rvt.rdmavt_compat=true"}), with_settings({}));
}

}  // namespace
}  // namespace hcasim::sim
