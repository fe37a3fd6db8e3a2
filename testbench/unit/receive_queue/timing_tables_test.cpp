// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The hand-made timing tables against the model, on every port in every cycle.
#include <gtest/gtest.h>

#include <sstream>

#include "hca/receive_queue/receive_queue_model.hpp"
#include "support/timing_table/timing_table.hpp"

namespace hcasim::testbench {
namespace {

using hca::ReceiveQueueModel;

class TimingTables : public testing::TestWithParam<std::string> {};

TEST_P(TimingTables, ModelAgreesInEveryCycle) {
  const TimingTable table = load_timing_table(GetParam());
  ReceiveQueueModel model(table.parameters);
  for (const TimingRow& row : table.rows) {
    ASSERT_TRUE(same_ports(row.outputs, model.outputs()))
        << table.title << "\ncycle " << row.cycle << "\nexpected " << describe(row.outputs)
        << "\nactual   " << describe(model.outputs());
    model.step(row.cycle, row.inputs);
  }
}

INSTANTIATE_TEST_SUITE_P(ByHand, TimingTables, testing::ValuesIn(timing_table_names()),
                         [](const auto& param_info) { return param_info.param; });

TEST(TimingTableFiles, AreTwelve) {
  EXPECT_EQ(timing_table_names().size(), 12U);
}

std::string error_of(const std::string& text) {
  std::istringstream in(text);
  try {
    read_timing_table(in, "t");
  } catch (const TimingTableError& error) {
    return error.what();
  }
  return "";
}

TEST(TimingTableFiles, MistakesNameTheLine) {
  EXPECT_EQ(error_of("title a\n0: cmd QUERY queue=1 => idle\n"), "");
  EXPECT_EQ(error_of("title a\n1: => idle\n"), "t:2: expected cycle 0");
  EXPECT_EQ(error_of("title a\n0: take queue=1 tga=2 => idle\n"), "t:2: take: expected tag=");
  EXPECT_EQ(error_of("title a\n0: => idel\n"),
            "t:2: expected cmd_rsp, dma_req, take_rsp, event, idle or busy, found idel");
  EXPECT_EQ(error_of("title a\n0: hold evnet => idle\n"), "t:2: hold: unknown word evnet");
  EXPECT_NE(error_of("title a\nparam lines 15\n0: => idle\n"), "");
}

}  // namespace
}  // namespace hcasim::testbench
