// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// `hcasim config`.
#include "program.hpp"

namespace hcasim::test {
namespace {

TEST(ConfigCommand, PrintsWhatPresetFileAndSettingsGive) {
  const Scratch scratch;
  std::ofstream(scratch.file("c.toml")) << "[pcie]\nwidth = 8\ntags = 16\n";
  const Outcome outcome = hcasim("config --config " + scratch.file("c.toml") +
                                 " --set pcie.tags=32 --set rvt.rdmavt_compat=true");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, testing::HasSubstr("\nwidth = 8\n"));
  EXPECT_THAT(outcome.out, testing::HasSubstr("\ntags = 32\n"));
  EXPECT_THAT(outcome.out, testing::HasSubstr("\nrdmavt_compat = true\n"));
}

TEST(ConfigCommand, TakesItsOwnOutput) {
  const Scratch scratch;
  const Outcome first = hcasim("config --set node.b.pcie.generation=3");
  std::ofstream(scratch.file("c.toml")) << first.out;
  const Outcome second = hcasim("config --config " + scratch.file("c.toml"));
  EXPECT_EQ(second.status, 0);
  EXPECT_EQ(second.out, first.out);
}

TEST(ConfigCommand, PrintsTheReferenceOfAllKeys) {
  const Outcome outcome = hcasim("config --markdown");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, contents(HCASIM_SOURCE_DIR "/model/sim/config/README.md"));
}

TEST(ConfigCommand, RefusesBadInput) {
  const Scratch scratch;
  std::ofstream(scratch.file("c.toml")) << "[pcie]\nwidht = 8\n";
  expect_refused("config --config " + scratch.file("c.toml"),
                 scratch.file("c.toml") +
                     ":2:1: expected a key of the configuration, found 'pcie.widht'; did you mean "
                     "'pcie.width'?");
  expect_refused("config --config " + scratch.file("none.toml"), "No such file or directory");
  expect_refused("config --preset genric", "did you mean 'generic'?");
  expect_refused("config --set pcie.generation=9", "an integer, 1 to 7, found '9'");
}

TEST(ConfigCommand, RefusesAKeyWithoutANameAndOneOfTooManyParts) {
  const Scratch scratch;
  std::ofstream(scratch.file("c.toml")) << "\"\" = 8\n";
  expect_refused("config --config " + scratch.file("c.toml"), "expected a key");
  std::ofstream deep(scratch.file("d.toml"));
  for (int i = 0; i < 100'000; ++i) deep << "a.";
  deep << "a = 1\n" << std::flush;
  expect_refused("config --config " + scratch.file("d.toml"), "at most 16 parts");
}

TEST(ConfigCommand, AFullDiskIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const Outcome outcome = hcasim("config", "/dev/full");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "hcasim: stdout: cannot write: No space left on device\n");
}

}  // namespace
}  // namespace hcasim::test
