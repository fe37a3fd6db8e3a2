// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// A trace given line by line, run by the whole program.
#pragma once

#include <fstream>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "unit/command_line/program.hpp"

namespace hcasim::test {

/// What a run left behind.
struct RunOfLines {
  int status = 0;
  std::string err;
  nlohmann::json statistics;                   ///< null when none were written
  std::vector<std::vector<std::string>> rows;  ///< of completions.csv, without the header
  std::string csv;

  std::uint64_t count(const char* name) const { return statistics[name].get<std::uint64_t>(); }
  /// The status of the only row of this queue pair and WQE.
  std::string status_of(const std::string& qp, const std::string& wqe) const {
    for (const auto& row : rows) {
      if (row[1] == qp && row[2] == wqe) return row[5];
    }
    return "no row";
  }
  /// When that work request was posted in nanoseconds, -1 when it was not.
  double posted(const std::string& qp, const std::string& wqe) const {
    for (const auto& row : rows) {
      if (row[1] == qp && row[2] == wqe) return std::stod(row[6]);
    }
    return -1;
  }
};

inline std::vector<std::vector<std::string>> rows_of(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  std::size_t begin = csv.find('\n') + 1;
  while (begin != 0 && begin < csv.size()) {
    const std::size_t end = csv.find('\n', begin);
    rows.emplace_back(1);
    for (const char c : csv.substr(begin, end - begin)) {
      if (c == ',') {
        rows.back().emplace_back();
      } else {
        rows.back().back() += c;
      }
    }
    begin = end + 1;
  }
  return rows;
}

/// Runs these lines, the version line put before them.
inline RunOfLines run_lines(const std::vector<std::string>& lines,
                            const std::string& options = {}) {
  const Scratch scratch("run");
  const std::string trace = scratch.file("it.trace");
  {
    std::ofstream file(trace);
    file << "hcasim-trace 1\n";
    for (const std::string& line : lines) file << line << '\n';
  }
  const std::string out = scratch.file("out");
  const Outcome ran = hcasim("run " + trace + " --out " + out + ' ' + options);
  RunOfLines result;
  result.status = ran.status;
  result.err = ran.err;
  result.csv = contents(out + "/completions.csv");
  result.rows = rows_of(result.csv);
  const std::string statistics = contents(out + "/stats.json");
  if (!statistics.empty()) result.statistics = nlohmann::json::parse(statistics);
  return result;
}

}  // namespace hcasim::test
