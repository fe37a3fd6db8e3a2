// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <hcasim/hw/receive_queue_ports.hpp>
#include <istream>
#include <stdexcept>
#include <string>
#include <vector>

/// Timing tables of the receive-queue unit: text files that say, cycle by cycle, what goes in and
/// what must come out. The format is described in testbench/cosim/timing_tables/README.md.
namespace hcasim::testbench {

/// One cycle of a table.
struct TimingRow {
  std::uint64_t cycle = 0;
  hw::rq::Inputs inputs;
  hw::rq::Outputs outputs;  ///< expected in this same cycle
};

struct TimingTable {
  std::string name;   ///< file name without extension
  std::string title;  ///< what the table shows
  hw::rq::Parameters parameters;
  std::vector<TimingRow> rows;  ///< cycle 0 on, none left out
};

/// A table that cannot be read; the text names file, line, and what was expected.
struct TimingTableError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Reads one table; `name` stands in error texts. Throws TimingTableError.
TimingTable read_timing_table(std::istream& in, const std::string& name);

/// Reads the file of that name (without directory and extension) from the folder of the tables.
TimingTable load_timing_table(const std::string& name);

/// Names of all tables of the folder, sorted.
std::vector<std::string> timing_table_names();

/// The outputs in the notation of the tables, for messages.
std::string describe(const hw::rq::Outputs& outputs);

}  // namespace hcasim::testbench
