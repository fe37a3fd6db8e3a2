// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Whatever the text, reading ends in a configuration or in an InputError of one line.
#include <gtest/gtest.h>
#include <hcasim/sim/config.hpp>
#include <hcasim/sim/input_error.hpp>

#include <random>

namespace hcasim::sim {
namespace {

using Random = std::mt19937_64;

/// A few keys of each type, short enough for a change to hit something that matters.
constexpr std::string_view kText = R"([pcie]
generation = 4
mps_bytes = 0x100
[fabric]
rate_gbps = 25.5e0
[rvt]
loopback_on_wire = true
[node.b]
hca.doorbell.fifo_depth = 1_000
[sources]
pcie.generation = "board \"x\""
)";

void mutate(std::string& text, Random& random) {
  constexpr std::string_view kBytes = "=[]{}.\"'#\n\r\t\\_-+0123456789aeinftx,:\x80\xff";
  const std::size_t at = random() % (text.size() + 1);
  const char byte = kBytes[random() % kBytes.size()];
  switch (random() % 4) {
    case 0:
      text.insert(at, 1, byte);
      break;
    case 1:
      text.erase(at, 1 + random() % 4);
      break;
    case 2:
      if (at < text.size()) text[at] = byte;
      break;
    default:
      text.insert(at, text.substr(random() % text.size(), random() % 30));
  }
}

struct Tally {
  int read = 0;
  int refused = 0;
};

void read(const std::string& text, Tally& tally) {
  try {
    parse_config(text, "mutant");
    ++tally.read;
  } catch (const InputError& error) {
    ++tally.refused;
    const std::string what = error.what();
    EXPECT_EQ(what.find_first_of("\n\r"), std::string::npos) << what;
    EXPECT_EQ(what.find("mutant:"), 0U) << what;
  }
}

TEST(ConfigMutation, EndsInAConfigurationOrAnError) {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    Random random(seed);
    std::string text(kText);
    for (std::uint64_t i = random() % 4 + 1; i > 0 && !text.empty(); --i) mutate(text, random);
    SCOPED_TRACE(seed);
    read(text, tally);
  }
  // Both ends are reached often, so the changes are neither too small nor too large.
  EXPECT_GT(tally.read, 40);
  EXPECT_GT(tally.refused, 1000);
}

TEST(ConfigMutation, RandomBytesAreRefused) {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Random random(seed);
    std::string text(random() % 200, ' ');
    for (char& c : text) c = static_cast<char>(random());
    SCOPED_TRACE(seed);
    read(text, tally);
  }
  EXPECT_GT(tally.refused, 900);
}

}  // namespace
}  // namespace hcasim::sim
