// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Logs of sides, compared queue by queue.
#include "sim/cosim/order_check.hpp"

#include <algorithm>

#include "sim/cosim/generator.hpp"
#include "sim/cosim/order_run.hpp"

namespace hcasim::sim::cosim {
namespace {

constexpr std::string_view kPorts[] = {"cmd_rsp", "dma_req", "take_rsp", "event"};

Difference missing(OutputPort port, hca::Cycle cycle, bool expected) {
  Difference d;
  d.cycle = cycle;
  d.where = {std::string(kPorts[static_cast<std::size_t>(port)]), "valid", expected ? "1" : "0",
             expected ? "0" : "1"};
  return d;
}

std::optional<Difference> compare(OutputPort port, const std::vector<OrderRun::Entry>& expected,
                                  const std::vector<OrderRun::Entry>& actual) {
  const std::size_t both = std::min(expected.size(), actual.size());
  for (std::size_t i = 0; i < both; ++i) {
    const auto where = hca::difference(expected[i].shown, actual[i].shown);
    if (where) return Difference{actual[i].cycle, {}, *where, {}};
  }
  if (expected.size() > both) return missing(port, expected[both].cycle, true);
  if (actual.size() > both) return missing(port, actual[both].cycle, false);
  return std::nullopt;
}

/// The earliest difference of all queues.
std::optional<Difference> compare(const OrderRun::Log& expected, const OrderRun::Log& actual) {
  OrderRun::Log all = expected;
  all.insert(actual.begin(), actual.end());
  static const std::vector<OrderRun::Entry> none;
  const auto of = [](const OrderRun::Log& log, const auto& key) -> const auto& {
    const auto found = log.find(key);
    return found == log.end() ? none : found->second;
  };
  std::optional<Difference> first;
  for (const auto& [key, entries] : all) {
    auto found = compare(key.first, of(expected, key), of(actual, key));
    if (!found || (first && first->cycle <= found->cycle)) continue;
    found->queue = key.second;
    first = std::move(found);
  }
  return first;
}

Trial attempt(std::span<const Side> sides, const StimulusList& stimulus) {
  Trial trial;
  trial.operations = stimulus.operations.size();
  OrderRun expected(sides.front(), stimulus.parameters);
  expected.run(stimulus.operations);
  trial.cycles = expected.cycles();
  for (const Side& side : sides.subspan(1)) {
    OrderRun actual(side, stimulus.parameters);
    actual.run(stimulus.operations);
    trial.cycles += actual.cycles();
    trial.difference = compare(expected.log(), actual.log());
    if (!trial.difference) continue;
    trial.difference->side = side.name;
    break;
  }
  return trial;
}

bool names_cycles(const Operation& operation) {
  switch (operation.kind) {
    case OperationKind::kWait:
    case OperationKind::kReady:
    case OperationKind::kFault:
    case OperationKind::kBeat:
      return true;
    default:
      return false;
  }
}

}  // namespace

RunResult order_check(std::span<const Side> sides, const RandomRun& run) {
  const Side model = model_side();
  Bench bench({&model, 1}, run.parameters);
  Generator generator(*run.profile, run.parameters, bench.scoreboard(), run.seed, run.cycles);
  bench.run(generator);
  RunResult result;
  StimulusList stimulus{run.parameters, generator.operations()};
  std::erase_if(stimulus.operations, names_cycles);
  const Trial trial = attempt(sides, stimulus);
  result.cycles = trial.cycles;
  result.operations = stimulus.operations.size();
  result.counters = bench.unit().counters();
  if (trial.difference) result.failing = {std::move(stimulus), *trial.difference};
  return result;
}

std::optional<Difference> order_replay(std::span<const Side> sides, const StimulusList& stimulus) {
  return attempt(sides, stimulus).difference;
}

FailingStimulus order_shrink(std::span<const Side> sides, const FailingStimulus& failing) {
  return shrink([sides](const StimulusList& stimulus) { return attempt(sides, stimulus); },
                failing);
}

}  // namespace hcasim::sim::cosim
