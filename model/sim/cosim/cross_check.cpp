// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Random runs, life by life, and the words for their differences.
#include "sim/cosim/cross_check.hpp"

#include <algorithm>

#include "sim/cosim/coverage_collector.hpp"
#include "sim/cosim/generator.hpp"
#include "sim/cosim/transactions.hpp"

namespace hcasim::sim::cosim {
namespace {

constexpr std::size_t kTransactions = 16;

/// Each life and each profile of a seed draws its own numbers.
std::uint64_t seed_of(const RandomRun& run, std::uint64_t life) {
  std::uint64_t x = run.seed * 0x9E3779B97F4A7C15U + life;
  for (const char c : run.profile->name) x = (x ^ static_cast<std::uint64_t>(c)) * 0x100000001B3U;
  return x ^ (x >> 29U);
}

void add(hca::ReceiveQueueCounters& sum, const hca::ReceiveQueueCounters& more) {
  // All of its members are numbers of 64 bits.
  auto* const to = reinterpret_cast<std::uint64_t*>(&sum);
  const auto* const from = reinterpret_cast<const std::uint64_t*>(&more);
  for (std::size_t i = 0; i < sizeof(sum) / sizeof(std::uint64_t); ++i) to[i] += from[i];
}

}  // namespace

RunResult cross_check(std::span<const Side> sides, const RandomRun& run, Coverage* coverage) {
  RunResult result;
  Coverage unwanted;
  CoverageCollector collector(coverage != nullptr ? *coverage : unwanted);
  CoverageCollector* const used = coverage != nullptr ? &collector : nullptr;
  hca::Cycle left = run.cycles;
  for (std::uint64_t life = 0; left != 0; ++life) {
    const hca::Cycle cycles = std::min(left, kLongestLife);
    left -= cycles;
    Bench bench(sides, run.parameters, used, used);
    Generator generator(*run.profile, run.parameters, bench.scoreboard(), seed_of(run, life),
                        cycles);
    const auto difference = bench.run(generator);
    result.cycles += bench.cycles();
    result.operations += generator.operations().size();
    add(result.counters, bench.unit().counters());
    if (!difference) continue;
    result.failing = {{run.parameters, generator.operations()}, *difference};
    break;
  }
  return result;
}

std::string describe(std::span<const Side> sides, const FailingStimulus& failing) {
  TransactionLog log(failing.difference.queue, kTransactions);
  Bench bench(sides, failing.stimulus.parameters, &log);
  ListSource source(failing.stimulus.operations);
  bench.run(source);
  std::string text = to_text(failing.difference) + "\n";
  const auto& queue = failing.difference.queue;
  text += queue ? "last transactions of queue " + std::to_string(*queue) + ":\n"
                : "last transactions:\n";
  for (const std::string& line : log.lines()) text += "  " + line + "\n";
  return text;
}

}  // namespace hcasim::sim::cosim
