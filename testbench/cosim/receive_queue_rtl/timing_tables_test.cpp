// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The hand-made timing tables against the RTL, on every port in every cycle, by both simulators and
// from several initial states.
#include <gtest/gtest.h>

#include "rtl_libraries.hpp"
#include "support/timing_table/timing_table.hpp"

namespace hcasim::testbench {
namespace {

class RtlTimingTables : public testing::TestWithParam<std::string> {};

void expect_agreement(const TimingTable& table, hca::ReceiveQueueUnit& unit) {
  for (const TimingRow& row : table.rows) {
    ASSERT_TRUE(same_ports(row.outputs, unit.outputs()))
        << table.title << "\ncycle " << row.cycle << "\nexpected " << describe(row.outputs)
        << "\nactual   " << describe(unit.outputs());
    unit.step(row.cycle, row.inputs);
  }
}

TEST_P(RtlTimingTables, RtlAgreesInEveryCycle) {
  const TimingTable table = load_timing_table(GetParam());
  const std::vector<std::string> files = libraries_with(table.parameters);
  ASSERT_FALSE(files.empty()) << "no build of the RTL has the parameters of the table";
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const auto library = hca::ReceiveQueueLibrary::load(file);
    for (const std::uint64_t seed : {0, 1, 2, 3, 4, 5, 6, 7, 8}) {
      SCOPED_TRACE("seed of the initial state " + std::to_string(seed));
      hca::RtlReceiveQueue unit(library, seed);
      expect_agreement(table, unit);
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(ByHand, RtlTimingTables, testing::ValuesIn(timing_table_names()),
                         [](const auto& param_info) { return param_info.param; });

}  // namespace
}  // namespace hcasim::testbench
