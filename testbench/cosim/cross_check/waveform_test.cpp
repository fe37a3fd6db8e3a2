// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Waveforms of a difference, and the save file that opens a viewer at the spot.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#ifdef HCASIM_FST
#include <gtkwave/fstapi.h>
#endif

#include <filesystem>
#include <fstream>
#include <map>

#include "sim/cosim/cross_check.hpp"
#include "sim/cosim/wave_file.hpp"
#include "sim/cosim/waveform.hpp"
#include "support/receive_queue/faulty_units.hpp"

namespace hcasim::testbench {
namespace {

using namespace sim::cosim;

struct Found {
  std::vector<Side> sides{model_side(), wrong_remaining_at_wrap()};
  FailingStimulus failing;

  Found() {
    const RunResult result = cross_check(sides, {find_profile("wrap"), {}, 1, 10'000});
    failing = result.failing.value();
  }
};

TEST(Waveform, TheSaveFileHasTheSpotAndThePortFirst) {
  const Found found;
  const Waves waves = record_waves(found.sides, found.failing, "failure.fst");
  const std::string cycle = std::to_string(found.failing.difference.cycle);
  EXPECT_THAT(waves.save, testing::HasSubstr("[dumpfile] \"failure.fst\"\n"));
  EXPECT_THAT(waves.save, testing::HasSubstr("*-1.000000 " + cycle + " -1"));
  EXPECT_LT(waves.save.find("@800200\n-take_rsp\n"), waves.save.find("-cmd\n"));
  EXPECT_THAT(waves.save, testing::HasSubstr("bench.model.take_rsp_remaining[15:0]\n@22\n"
                                             "bench.wrong_remaining_at_wrap.take_rsp_remaining"));
}

TEST(Waveform, TheSameRunGivesTheSameSaveFile) {
  const Found found;
  EXPECT_EQ(record_waves(found.sides, found.failing, "x").save,
            record_waves(found.sides, found.failing, "x").save);
}

#ifdef HCASIM_FST
/// Values of a signal at a time.
std::string value_at(void* reader, std::uint64_t time, fstHandle signal) {
  std::string buffer(1024, '\0');
  const char* const value = fstReaderGetValueFromHandleAtTime(reader, time, signal, buffer.data());
  return value == nullptr ? "" : value;
}

TEST(Waveform, AnFstShowsBothSidesAtTheSpot) {
  const Found found;
  ASSERT_EQ(wave_extension(), "fst");
  const std::string file = testing::TempDir() + "hcasim_waveform_test.fst";
  std::ofstream(file, std::ios::binary)
      << record_waves(found.sides, found.failing, "x.fst").waveform;
  void* const reader = fstReaderOpen(file.c_str());
  ASSERT_NE(reader, nullptr);
  std::map<std::string, fstHandle> signals;
  std::string scope;
  while (const fstHier* const hier = fstReaderIterateHier(reader)) {
    if (hier->htyp == FST_HT_SCOPE) scope = hier->u.scope.name;
    if (hier->htyp == FST_HT_VAR) {
      const std::string name = hier->u.var.name;
      signals[scope + "." + name.substr(0, name.find(' '))] = hier->u.var.handle;
    }
  }
  const std::uint64_t cycle = found.failing.difference.cycle;
  const std::string expected = value_at(reader, cycle, signals["model.take_rsp_remaining"]);
  const std::string actual =
      value_at(reader, cycle, signals["wrong_remaining_at_wrap.take_rsp_remaining"]);
  EXPECT_EQ(std::stoul(expected, nullptr, 2), std::stoul(found.failing.difference.where.expected));
  EXPECT_EQ(std::stoul(actual, nullptr, 2), std::stoul(found.failing.difference.where.actual));
  EXPECT_EQ(value_at(reader, cycle, signals["bench.differ"]), "1");
  EXPECT_EQ(value_at(reader, cycle - 1, signals["bench.differ"]), "0");
  EXPECT_EQ(fstReaderGetEndTime(reader), cycle + 15);
  fstReaderClose(reader);
  std::filesystem::remove(file);
}
#endif

}  // namespace
}  // namespace hcasim::testbench
