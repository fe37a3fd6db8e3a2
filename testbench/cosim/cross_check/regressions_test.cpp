// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Every stimulus in traces/cosim passes: what was found once does not come back.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "sim/cosim/cross_check.hpp"
#include "support/receive_queue/reference_unit.hpp"
#ifdef HCASIM_RTL_FOLDER
#include "sim/cosim/side.hpp"
#endif

namespace hcasim::testbench {
namespace {

using namespace sim::cosim;
namespace fs = std::filesystem;

std::vector<fs::path> stimuli() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(HCASIM_SOURCE_DIR "/traces/cosim")) {
    if (entry.path().extension() == ".stimulus") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Side> sides_of(const hw::rq::Parameters& wanted) {
  std::vector<Side> sides{
      model_side(), skipping_model_side(), {"reference", [](const hw::rq::Parameters& parameters) {
                                              return std::make_unique<ReferenceUnit>(parameters);
                                            }}};
#ifdef HCASIM_RTL_FOLDER
  for (const auto& entry : fs::directory_iterator(HCASIM_RTL_FOLDER)) {
    if (entry.path().extension() != ".so") continue;
    const auto library = hca::ReceiveQueueLibrary::load(entry.path());
    if (library->plugin().parameters == wanted) sides.push_back(rtl_side(library));
  }
#else
  static_cast<void>(wanted);
#endif
  return sides;
}

class Regression : public testing::TestWithParam<fs::path> {};

TEST_P(Regression, Passes) {
  const StimulusList stimulus = load_stimulus(GetParam());
  const std::vector<Side> sides = sides_of(stimulus.parameters);
  const auto difference = replay(sides, stimulus);
  ASSERT_FALSE(difference) << describe(sides, {stimulus, *difference});
}

INSTANTIATE_TEST_SUITE_P(Cosim, Regression, testing::ValuesIn(stimuli()),
                         [](const auto& param_info) {
                           std::string name = param_info.param.stem();
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace hcasim::testbench
