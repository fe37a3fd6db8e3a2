// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/record/node_sum.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace hcasim::sim {

namespace {

/// The element for which `same` holds, or a new one with the value of `model`.
template <typename T, typename Same>
std::pair<T&, bool> find_or_add(std::vector<T>& all, const T& model, Same same) {
  const auto found = std::ranges::find_if(all, same);
  if (found != all.end()) return {*found, false};
  return {all.emplace_back(model), true};
}

void add_messages(NodeStatistics& sum, const NodeStatistics& node) {
  for (const OpcodeStatistics& part : node.opcodes) {
    const auto [all, is_new] = find_or_add(
        sum.opcodes, part, [&](const OpcodeStatistics& o) { return o.opcode == part.opcode; });
    if (!is_new) add(all, part);
  }
}

void add_occupancy(RunStatistics& sum, const RunStatistics& statistics, const std::string& name) {
  for (const OccupancyStatistics& part : statistics.occupancy) {
    auto [all, is_new] = find_or_add(
        sum.occupancy, part, [&](const OccupancyStatistics& o) { return o.queue == part.queue; });
    all.node = name;
    if (is_new) continue;
    all.mean_thousandths += part.mean_thousandths;
    all.empty_millionths += part.empty_millionths;
    all.p99 = std::max(all.p99, part.p99);
    all.max = std::max(all.max, part.max);
  }
  for (OccupancyStatistics& all : sum.occupancy) {
    all.mean_thousandths /= statistics.nodes.size();
    all.empty_millionths /= statistics.nodes.size();
  }
}

void add_counters(RunStatistics& sum, const RunStatistics& statistics, const std::string& name) {
  for (const Counter& counter : statistics.counters) {
    const bool of_node = std::ranges::find(statistics.nodes, counter.node, &NodeStatistics::name) !=
                         statistics.nodes.end();
    sum.counters.push_back(counter);
    if (of_node) sum.counters.back().node = name;
  }
}

void add_utilisation(RunStatistics& sum, const RunStatistics& statistics, const std::string& name) {
  for (const Utilisation& part : statistics.utilisation) {
    const std::string resource = part.resource + " up to";
    auto [most, is_new] = find_or_add(sum.utilisation, part,
                                      [&](const Utilisation& u) { return u.resource == resource; });
    most = {name, resource, is_new ? part.share : std::max(most.share, part.share)};
  }
}

}  // namespace

void add(OpcodeStatistics& sum, const OpcodeStatistics& part) {
  sum.completed += part.completed;
  sum.failed += part.failed;
  sum.flushed += part.flushed;
  sum.unfinished += part.unfinished;
  sum.bytes += part.bytes;
  for (const StatusCount& error : part.errors) {
    const auto same = std::ranges::find(sum.errors, error.status, &StatusCount::status);
    if (same == sum.errors.end()) {
      sum.errors.push_back(error);
    } else {
      same->messages += error.messages;
    }
  }
}

RunStatistics sum_of_nodes(const RunStatistics& statistics) {
  RunStatistics sum = statistics;
  const std::string name = std::to_string(statistics.nodes.size()) + " nodes";
  sum.nodes.assign(1, {});
  sum.nodes.front().name = name;
  sum.occupancy.clear();
  sum.utilisation.clear();
  sum.counters.clear();
  for (const NodeStatistics& node : statistics.nodes) add_messages(sum.nodes.front(), node);
  std::ranges::sort(sum.nodes.front().opcodes, {}, &OpcodeStatistics::opcode);
  add_occupancy(sum, statistics, name);
  add_counters(sum, statistics, name);
  add_utilisation(sum, statistics, name);
  return sum;
}

}  // namespace hcasim::sim
