// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Help, version, and command lines that cannot be understood.
#include "program.hpp"

namespace hcasim::test {
namespace {

TEST(Usage, VersionIsOneLineOnStdout) {
  const Outcome outcome = hcasim("--version");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, testing::MatchesRegex("hcasim [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_EQ(outcome.err, "");
}

TEST(Usage, HelpNamesTheCommands) {
  const Outcome outcome = hcasim("--help");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, testing::HasSubstr("config"));
  EXPECT_EQ(outcome.err, "");
}

TEST(Usage, HelpOfACommandNamesItsOptions) {
  const Outcome outcome = hcasim("config --help");
  EXPECT_EQ(outcome.status, 0);
  for (const char* option : {"--preset", "--config", "--set", "--markdown"}) {
    EXPECT_THAT(outcome.out, testing::HasSubstr(option));
  }
}

TEST(Usage, NoCommandIsRefused) {
  expect_refused("", "expected a command (config");
}

TEST(Usage, AnUnknownCommandNamesTheNearest) {
  expect_refused("confg", "found 'confg'; did you mean 'config'?");
  expect_refused("--versoin", "found '--versoin'; did you mean '--version'?");
}

TEST(Usage, AnUnknownOptionNamesTheNearest) {
  expect_refused("config --prest generic", "found '--prest'; did you mean '--preset'?");
  expect_refused("config extra", "expected an option of 'hcasim config', found 'extra'");
}

TEST(Usage, AnOptionWithoutItsValueIsRefused) {
  expect_refused("config --set", "--set");
  expect_refused("config --config", "--config");
}

TEST(Usage, PresetAndFileExcludeEachOther) {
  expect_refused("config --preset generic --config x.toml", "exclude each other");
}

TEST(Usage, OptionsBelongBehindTheirCommand) {
  expect_refused("--seed 7 run x.trace", "found '--seed' before 'run'");
  expect_refused("--nonsense foo config", "found '--nonsense' before 'config'");
}

TEST(Usage, ThereIsOneCommand) {
  expect_refused("config run", "expected an option of 'hcasim config', found 'run'");
  expect_refused("run x.trace config --set bogus=1",
                 "expected an option of 'hcasim run', found 'config'");
}

TEST(Usage, AnEmptyNameIsNoName) {
  for (const char* line : {"config --config ''", "run t --out ''", "run t --pcap ''", "run ''",
                           "import c -o ''", "import '' -o t"}) {
    expect_refused(line, "expected a name, found nothing");
  }
}

TEST(Usage, NumbersAreDecimalAndAreNotBent) {
  for (const char* number :
       {"18446744073709551616", "-1", "abc", "0x7", "1e3", "7.0", "' 7'", "+7", "''"}) {
    expect_refused(std::string("run t --seed ") + number,
                   "--seed: expected a number from 0 to 18446744073709551615, found ");
  }
}

TEST(Usage, LineBreaksOfArgumentsStayOutOfTheError) {
  expect_refused("\"$(printf 'a\\nb')\"", "expected a command");
  expect_refused("config \"$(printf -- '--a\\nb')\"", "expected an option");
  expect_refused("config --set \"$(printf 'a\\nb=3')\"", "expected a key");
}

}  // namespace
}  // namespace hcasim::test
