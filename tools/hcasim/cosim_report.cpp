// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "cosim_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/cosim/wave_file.hpp"
#include "sim/cosim/waveform.hpp"

namespace hcasim::tools {

namespace cosim = sim::cosim;

namespace {

constexpr std::size_t kRarest = 10;

void add_files(std::vector<NamedText>& files, std::span<const cosim::Side> sides,
               const cosim::FailingStimulus& failing, const std::string& stem,
               const std::string& remark) {
  files.push_back({stem + ".stimulus", cosim::to_text(failing.stimulus, remark)});
  const std::string name = stem + "." + std::string(cosim::wave_extension());
  const cosim::Waves waves = cosim::record_waves(sides, failing, name);
  files.push_back({name, waves.waveform});
  files.push_back({stem + ".gtkw", waves.save});
}

}  // namespace

std::string side_names(std::span<const cosim::Side> sides) {
  std::string names;
  for (const cosim::Side& side : sides) names += (names.empty() ? "" : ", ") + side.name;
  return names;
}

std::string profile_head(std::span<const cosim::Side> sides) {
  return fmt::format("compared: {}\n{:<18}{:>12}{:>12}{:>10}{:>10}{:>10}{:>10}\n",
                     side_names(sides), "profile", "cycles", "operations", "takes", "commands",
                     "requests", "evictions");
}

std::string profile_line(const cosim::Profile& profile, const cosim::RunResult& result) {
  const hca::ReceiveQueueCounters& c = result.counters;
  const std::uint64_t takes =
      c.takes_ok + c.takes_empty + c.takes_flushed + c.takes_bad_queue + c.takes_fetch_error;
  return fmt::format("{:<18}{:>12}{:>12}{:>10}{:>10}{:>10}{:>10}{}\n", profile.name, result.cycles,
                     result.operations, takes, c.commands, c.dma_requests, c.evictions,
                     result.failing ? "  FAILED" : "");
}

std::string coverage_summary(const cosim::Coverage& coverage, const std::string& file) {
  std::vector<cosim::Coverage::Point> points = coverage.points();
  std::stable_sort(points.begin(), points.end(),
                   [](const auto& a, const auto& b) { return a.hits < b.hits; });
  std::string text =
      fmt::format("functional coverage: {} of {} points, {:.1f} %\n",
                  points.size() - coverage.holes(), points.size(), coverage.percent());
  const std::size_t shown = std::max(coverage.holes(), kRarest);
  for (std::size_t i = 0; i < std::min(shown, points.size()); ++i) {
    const cosim::Coverage::Point& point = points[i];
    text += point.hits == 0 ? fmt::format("        HOLE  {}\n", point.name)
                            : fmt::format("{:>12}  {}\n", point.hits, point.name);
  }
  if (!file.empty()) text += "all points: " + file + "\n";
  return text;
}

FailureReport report_failure(std::span<const cosim::Side> sides,
                             const cosim::FailingStimulus& failing, const std::string& origin) {
  const cosim::FailingStimulus small = cosim::shrink(sides, failing);
  FailureReport report;
  report.text = "\n" + origin + "\n" + cosim::describe(sides, failing) +
                fmt::format("\nshrunk from {} operations to {}:\n",
                            failing.stimulus.operations.size(), small.stimulus.operations.size()) +
                cosim::describe(sides, small);
  const std::string remark = cosim::to_text(small.difference);
  report.files.push_back({"difference.txt", report.text + "\n"});
  add_files(report.files, sides, failing, "failure", cosim::to_text(failing.difference));
  add_files(report.files, sides, small, "shrunk", remark);
  report.text += "\n" + cosim::to_text(small.stimulus, remark);
  return report;
}

}  // namespace hcasim::tools
