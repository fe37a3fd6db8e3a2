// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// A trace given line by line, run by the whole program.
#pragma once

#include <fstream>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/monitored_replay.hpp"
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

/// A run whose packets all arrive is held against the rules of the transport at both ends of each
/// connection. Through a switch they arrive later than is assumed, which forgives more.
inline void expect_rules_kept(const std::string& trace, const std::string& pcap,
                              const nlohmann::json& statistics) {
  for (const auto& [node, units] : statistics["counters"].items()) {
    for (const auto& [unit, counters] : units.items()) {
      for (const char* lost : {"tx_discards_phy", "rx_discards_phy", "rx_buffer_full",
                               "packets_lost", "packets_lost_link_down", "packets_duplicated",
                               "packets_reordered", "packets_corrupted"}) {
        if (counters.value(lost, 0) != 0) return;
      }
    }
  }
  support::MonitoredReplay replay(trace, pcap, {.reaction = 100 * hw::kMicrosecond});
  if (replay.judges_all()) replay.expect_clean();
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
  const bool captured = options.find("--pcap") != std::string::npos;
  const std::string pcap = scratch.file("it.pcap");
  const std::string watched = captured ? options : options + " --pcap " + pcap;
  const Outcome ran = hcasim("run " + trace + " --out " + out + ' ' + watched);
  RunOfLines result;
  result.status = ran.status;
  result.err = ran.err;
  result.csv = contents(out + "/completions.csv");
  result.rows = rows_of(result.csv);
  const std::string statistics = contents(out + "/stats.json");
  if (!statistics.empty()) result.statistics = nlohmann::json::parse(statistics);
  if (!statistics.empty() && !captured) expect_rules_kept(trace, pcap, result.statistics);
  return result;
}

}  // namespace hcasim::test
