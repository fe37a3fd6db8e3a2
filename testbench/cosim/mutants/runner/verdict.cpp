// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "verdict.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace hcasim::testbench {
namespace {

constexpr std::string_view kBar = " | ";
constexpr std::string_view kKilled = "killed: ";
constexpr std::string_view kEquivalent = "equivalent: ";

std::vector<std::string> split(const std::string& line, std::string_view by) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end; (end = line.find(by, begin)) != std::string::npos;
       begin = end + by.size()) {
    parts.push_back(line.substr(begin, end - begin));
  }
  parts.push_back(line.substr(begin));
  return parts;
}

/// Calls `action` with the three parts of every line that is no remark.
template <typename Action>
void each_line(const std::string& file, const Action& action) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error(file + ": cannot be read");
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    const auto parts = split(line, kBar);
    if (parts.size() != 3) throw std::runtime_error(file + ": expected three parts: " + line);
    action(parts);
  }
}

std::uint64_t number_behind(const std::string& text, const std::string& word) {
  const std::string start = word + " ";
  if (text.rfind(start, 0) != 0) throw std::runtime_error("expected '" + word + "': " + text);
  return std::stoull(text.substr(start.size()));
}

Kill read_kill(const std::string& text) {
  const auto parts = split(text, ", ");
  if (parts.size() != 4) throw std::runtime_error("expected what killed it: " + text);
  return {parts[0], {parts[1], number_behind(parts[2], "seed"), number_behind(parts[3], "cycle")}};
}

}  // namespace

std::string key_of(const Mutant& mutant) {
  return fmt::format("{} {}{}{}", mutant.family, mutant.number, kBar, mutant.text);
}

std::string to_text(const Verdict& verdict) {
  const std::string head = key_of(verdict.mutant) + std::string(kBar);
  if (verdict.kill) {
    const Attempt& by = verdict.kill->attempt;
    return head + fmt::format("{}{}, {}, seed {}, cycle {}", kKilled, verdict.kill->what,
                              by.profile, by.seed, by.cycles);
  }
  if (!verdict.reason.empty()) return head + std::string(kEquivalent) + verdict.reason;
  return head + "survived, not yet judged";
}

std::map<std::string, Verdict> read_verdicts(const std::string& file) {
  std::map<std::string, Verdict> found;
  each_line(file, [&](const std::vector<std::string>& parts) {
    Verdict verdict;
    std::istringstream(parts[0]) >> verdict.mutant.family >> verdict.mutant.number;
    verdict.mutant.text = parts[1];
    const std::string& said = parts[2];
    if (said.rfind(kKilled, 0) == 0) verdict.kill = read_kill(said.substr(kKilled.size()));
    if (said.rfind(kEquivalent, 0) == 0) verdict.reason = said.substr(kEquivalent.size());
    found.emplace(key_of(verdict.mutant), verdict);
  });
  return found;
}

std::map<std::string, std::string> read_reasons(const std::string& file) {
  std::map<std::string, std::string> found;
  each_line(file, [&](const std::vector<std::string>& parts) {
    found.emplace(parts[0] + std::string(kBar) + parts[1], parts[2]);
  });
  return found;
}

std::optional<Kill> kill(const MutantFamily& family, const Mutant& mutant,
                         const std::map<std::string, Verdict>& known) {
  const auto verdict = known.find(key_of(mutant));
  if (verdict != known.end() && verdict->second.kill) {
    const Attempt& before = verdict->second.kill->attempt;
    for (const Attempt& attempt : all_attempts()) {
      if (attempt.profile != before.profile || attempt.seed != before.seed) continue;
      if (auto found = family.run(mutant.number, attempt)) return found;
    }
  }
  return hunt(family, mutant.number);
}

}  // namespace hcasim::testbench
