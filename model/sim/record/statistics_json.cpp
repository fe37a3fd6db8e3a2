// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/record/statistics_json.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "sim/record/json_writer.hpp"
#include "sim/record/rates.hpp"
#include "sim/record/text.hpp"

namespace hcasim::sim {

namespace {

void latency_times(JsonWriter& json, const LatencySummary& latency,
                   std::initializer_list<std::pair<const char*, hw::Time>> times) {
  json.begin_object("latency_ns");
  for (const auto& [key, value] : times) {
    if (latency.count == 0) {
      json.null(key);
    } else {
      json.time(key, value);
    }
  }
  json.end_object();
}

void whole_latency(JsonWriter& json, const LatencySummary& l) {
  latency_times(json, l,
                {{"min", l.min},
                 {"mean", l.mean},
                 {"p50", l.p50},
                 {"p99", l.p99},
                 {"p999", l.p999},
                 {"max", l.max}});
}

void opcode(JsonWriter& json, const OpcodeStatistics& statistics) {
  json.begin_object(name_of(statistics.opcode));
  json.integer("messages_completed", statistics.completed);
  json.integer("messages_failed", statistics.failed);
  json.integer("messages_flushed", statistics.flushed);
  json.integer("messages_unfinished", statistics.unfinished);
  json.integer("bytes_delivered", statistics.bytes);
  json.begin_object("errors");
  for (const StatusCount& error : statistics.errors) {
    json.integer(name_of(error.status), error.messages);
  }
  json.end_object();
  whole_latency(json, statistics.latency);
  json.end_object();
}

// Which node's host a node sits in, where it has none of its own.
void shared_hosts(JsonWriter& json, const RunStatistics& statistics) {
  const auto shares = [](const NodeStatistics& node) { return !node.host.empty(); };
  if (std::ranges::none_of(statistics.nodes, shares)) return;
  json.begin_object("hosts");
  for (const NodeStatistics& node : statistics.nodes) {
    if (shares(node)) json.string(node.name, node.host);
  }
  json.end_object();
}

void by_node(JsonWriter& json, const RunStatistics& statistics) {
  json.begin_object("by_node");
  for (const NodeStatistics& node : statistics.nodes) {
    json.begin_object(node.name);
    for (const OpcodeStatistics& entry : node.opcodes) opcode(json, entry);
    json.end_object();
  }
  json.end_object();
}

void other_work(JsonWriter& json, const RunStatistics& statistics) {
  json.begin_object("receives");
  for (const NodeStatistics& node : statistics.nodes) {
    json.begin_object(node.name);
    json.integer("completed", node.receives_completed);
    json.integer("failed", node.receives_failed);
    json.integer("flushed", node.receives_flushed);
    json.integer("bytes", node.received_bytes);
    json.end_object();
  }
  json.end_object();
  json.begin_object("local_operations");
  for (const NodeStatistics& node : statistics.nodes) {
    json.begin_object(node.name);
    json.integer("completed", node.local_operations);
    json.integer("not_completed", node.local_operations_ended);
    json.end_object();
  }
  json.end_object();
}

void throughput(JsonWriter& json, const RunStatistics& statistics) {
  const hw::Time time = statistics.active_time();
  json.begin_object("throughput");
  json.time("active_ns", time);
  json.integer("bytes_per_second", per_second(statistics.bytes_delivered, time));
  json.integer("messages_per_second", per_second(statistics.messages_completed, time));
  json.end_object();
}

void occupancy(JsonWriter& json, const RunStatistics& statistics) {
  json.begin_object("occupancy");
  for (const NodeStatistics& node : statistics.nodes) {
    json.begin_object(node.name);
    for (const OccupancyStatistics& queue : statistics.occupancy) {
      if (queue.node != node.name) continue;
      json.begin_object(name_of(queue.queue));
      json.decimal("mean", static_cast<std::int64_t>(queue.mean_thousandths), Decimals::kThree);
      json.integer("p99", queue.p99);
      json.integer("max", queue.max);
      json.decimal("empty_share", static_cast<std::int64_t>(queue.empty_millionths),
                   Decimals::kSix);
      json.end_object();
    }
    json.end_object();
  }
  json.end_object();
}

/// The distinct names in the order in which they first occur.
template <typename T>
std::vector<std::string> names_in(const std::vector<T>& entries, std::string T::*name) {
  std::vector<std::string> names;
  for (const T& entry : entries) {
    if (std::find(names.begin(), names.end(), entry.*name) == names.end()) {
      names.push_back(entry.*name);
    }
  }
  return names;
}

/// One object per distinct name; `write` is given the entries that have it.
template <typename T, typename F>
void grouped(JsonWriter& json, const std::vector<T>& entries, std::string T::*name, F&& write) {
  for (const std::string& value : names_in(entries, name)) {
    std::vector<T> group;
    std::copy_if(entries.begin(), entries.end(), std::back_inserter(group),
                 [&](const T& entry) { return entry.*name == value; });
    json.begin_object(value);
    write(group);
    json.end_object();
  }
}

void utilisation(JsonWriter& json, const RunStatistics& statistics) {
  json.begin_object("utilisation");
  grouped(json, statistics.utilisation, &Utilisation::node, [&](const auto& node) {
    for (const Utilisation& entry : node) {
      json.decimal(entry.resource, std::llround(entry.share * 1e6), Decimals::kSix);
    }
  });
  json.end_object();
}

void counters(JsonWriter& json, const RunStatistics& statistics) {
  json.begin_object("counters");
  grouped(json, statistics.counters, &Counter::node, [&](const auto& node) {
    grouped(json, node, &Counter::unit, [&](const auto& unit) {
      for (const Counter& counter : unit) json.integer(counter.name, counter.value);
    });
  });
  json.end_object();
}

}  // namespace

std::string to_json(const RunStatistics& statistics) {
  JsonWriter json;
  json.integer("messages_completed", statistics.messages_completed);
  json.integer("messages_failed", statistics.messages_failed);
  json.integer("messages_flushed", statistics.messages_flushed);
  json.integer("messages_unfinished", statistics.messages_unfinished);
  json.integer("bytes_delivered", statistics.bytes_delivered);
  json.time("sim_time_ns", statistics.sim_time);
  if (statistics.measured_from != 0) json.time("measured_from_ns", statistics.measured_from);
  json.boolean("partial", statistics.partial);
  json.integer("seed", statistics.seed);
  whole_latency(json, statistics.latency);
  throughput(json, statistics);
  by_node(json, statistics);
  shared_hosts(json, statistics);
  other_work(json, statistics);
  occupancy(json, statistics);
  utilisation(json, statistics);
  counters(json, statistics);
  return json.finish();
}

std::string to_short_json(const RunStatistics& statistics) {
  JsonWriter json;
  const LatencySummary& l = statistics.latency;
  json.integer("messages_completed", statistics.messages_completed);
  json.integer("messages_failed", statistics.messages_failed);
  json.integer("bytes_delivered", statistics.bytes_delivered);
  json.time("sim_time_ns", statistics.sim_time);
  if (statistics.measured_from != 0) json.time("measured_from_ns", statistics.measured_from);
  if (statistics.partial) json.boolean("partial", true);
  latency_times(json, l, {{"min", l.min}, {"p50", l.p50}, {"p99", l.p99}, {"max", l.max}});
  counters(json, statistics);
  return json.finish();
}

}  // namespace hcasim::sim
