// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/record/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "sim/record/node_sum.hpp"
#include "sim/record/rates.hpp"
#include "sim/record/text.hpp"

namespace hcasim::sim {

namespace {

constexpr std::size_t kColumns = 100;
constexpr std::size_t kOpcodesPerNode = 4;

struct CacheNames {
  std::string_view title, hit, miss;
};
constexpr std::array<CacheNames, 5> kCaches = {
    {{"QPC", "qpc_cache_hit", "qpc_cache_miss"},
     {"CQC", "cqc_cache_hit", "cqc_cache_miss"},
     {"MPT", "mpt_cache_hit", "mpt_cache_miss"},
     {"MTT", "mtt_cache_hit", "mtt_cache_miss"},
     {"receive WQE", "rwqe_cache_hit", "rwqe_cache_miss"}}};
constexpr std::size_t kLabel = 12;
constexpr std::size_t kNameColumns = 10;
constexpr std::size_t kMostNodesShown = 8;

std::string cut(std::string text, std::size_t columns) {
  if (text.size() > columns) text.replace(columns - 3, std::string::npos, "...");
  return text;
}

std::string in_units(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 5> kPrefixes = {"", "k", "M", "G", "T"};
  std::size_t prefix = 0;
  for (; value >= 999.5 && prefix + 1 < kPrefixes.size(); ++prefix) value /= 1000;
  const int decimals = value >= 99.95 || (prefix == 0 && value == static_cast<int>(value)) ? 0
                       : value >= 9.995                                                    ? 1
                                                                                           : 2;
  // A unit that is a word stands apart from its prefix.
  const bool word = unit.size() > 3 && prefix != 0;
  return fmt::format("{:.{}f} {}{}{}", value, decimals, kPrefixes[prefix], word ? " " : "", unit);
}

std::string time_text(hw::Time time) {
  constexpr std::array<std::string_view, 5> kUnits = {"ps", "ns", "us", "ms", "s"};
  auto value = static_cast<double>(time);
  std::size_t unit = 0;
  for (; value >= 999.9995 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  return fmt::format("{:.{}f} {}", value, unit == 0 ? 0 : 3, kUnits[unit]);
}

class Summary {
 public:
  Summary(const RunStatistics& statistics, const RunSpeed& speed)
      : statistics_(statistics), speed_(speed) {}

  std::string text() {
    if (statistics_.partial) line("partial", "the run was cut short");
    if (statistics_.measured_from != 0)
      line("measured", "from " + time_text(statistics_.measured_from));
    messages();
    shared_hosts();
    throughput();
    latency();
    retries();
    switch_troubles();
    faults();
    caches();
    occupancy();
    utilisation();
    simulation();
    return std::move(text_);
  }

 private:
  void line(std::string_view label, const std::string& rest) {
    std::string whole = fmt::format("{:<{}}{}", label, kLabel, rest);
    whole.erase(whole.find_last_not_of(' ') + 1);
    text_ += cut(std::move(whole), kColumns) + '\n';
  }

  void messages() {
    line("node", fmt::format("{:<20} {:>10} {:>7} {:>8} {:>15}  {}", "opcode", "completed",
                             "failed", "flushed", "bytes", "errors"));
    for (const NodeStatistics& node : statistics_.nodes) {
      for (const OpcodeStatistics& opcode : shown(node)) {
        const bool others = opcode.opcode == hw::WrOpcode::kRegMr;
        opcode_line(node.name, others ? "(others)" : name_of(opcode.opcode), opcode);
      }
    }
  }

  void opcode_line(const std::string& node, std::string_view opcode, const OpcodeStatistics& o) {
    std::string errors = o.unfinished == 0 ? "" : fmt::format("{} unfinished", o.unfinished);
    for (const StatusCount& error : o.errors) {
      if (!errors.empty()) errors += ", ";
      errors += fmt::format("{} {}", error.messages, name_of(error.status));
    }
    line(cut(node, kLabel - 1), fmt::format("{:<20} {:>10} {:>7} {:>8} {:>15}  {}", opcode,
                                            o.completed, o.failed, o.flushed, o.bytes, errors));
  }

  // The opcodes of a node that matter most; the others as one, which goes by the name of an opcode
  // that is no message.
  std::vector<OpcodeStatistics> shown(const NodeStatistics& node) const {
    std::vector<OpcodeStatistics> all = node.opcodes;
    const std::size_t most =
        misses(node) == 0 ? kOpcodesPerNode : kOpcodesPerNode - 1;  // a line each
    if (all.size() <= most) return all;
    const auto total = [](const OpcodeStatistics& o) {
      return o.completed + o.failed + o.flushed + o.unfinished;
    };
    std::stable_sort(all.begin(), all.end(),
                     [&](const auto& a, const auto& b) { return total(a) > total(b); });
    OpcodeStatistics rest;
    rest.opcode = hw::WrOpcode::kRegMr;
    for (std::size_t i = most - 1; i < all.size(); ++i) add(rest, all[i]);
    all.resize(most - 1);
    all.push_back(rest);
    return all;
  }

  // Only where there are some.
  void shared_hosts() {
    std::string text;
    for (const NodeStatistics& node : statistics_.nodes) {
      if (node.host.empty()) continue;
      text += fmt::format("{}{} in the host of {}", text.empty() ? "" : ", ", node.name, node.host);
    }
    if (!text.empty()) line("hosts", text);
  }

  void throughput() {
    const hw::Time time = statistics_.active_time();
    const std::uint64_t bytes = per_second(statistics_.bytes_delivered, time);
    const std::uint64_t messages = per_second(statistics_.messages_completed, time);
    line("throughput", fmt::format("{}, {} over {} of {} simulated",
                                   in_units(8.0 * static_cast<double>(bytes), "b/s"),
                                   in_units(static_cast<double>(messages), "messages/s"),
                                   time_text(time), time_text(statistics_.sim_time)));
  }

  void latency() {
    const LatencySummary& l = statistics_.latency;
    if (l.count == 0) return line("latency", "no message completed with a completion of its own");
    line("latency",
         fmt::format("min {}, median {}, p99 {}, p99.9 {}, max {}", time_text(l.min),
                     time_text(l.p50), time_text(l.p99), time_text(l.p999), time_text(l.max)));
  }

  std::uint64_t counter(const std::string& node, std::string_view name) const {
    std::uint64_t sum = 0;
    for (const Counter& counter : statistics_.counters) {
      if (counter.node == node && counter.name == name) sum += counter.value;
    }
    return sum;
  }

  void retries() {
    for (const NodeStatistics& node : statistics_.nodes) {
      const auto of = [&](std::string_view name) { return counter(node.name, name); };
      line(first("retries", node),
           fmt::format("{:<{}}RNR NAKs sent {}, received {}; packets sent again {}; timeouts {}",
                       cut(node.name, kNameColumns - 1), kNameColumns, of("rnr_naks"),
                       of("n_rnr_naks"), of("n_rc_resends"), of("local_ack_timeout_err")));
    }
  }

  // What a switch did besides forwarding, where it did.
  void switch_troubles() {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kTroubles = {
        {{"tx_discards_phy", "packets dropped at a full output"},
         {"discard_ingress_general", "packets for an unknown address dropped"},
         {"ecn_marked", "packets ECN-marked"},
         {"tx_prio0_pause", "pause frames sent"}}};
    std::string text;
    for (const auto& [name, meaning] : kTroubles) {
      const std::uint64_t count = counter("switch", name);
      if (count != 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, meaning);
    }
    if (!text.empty()) line("switch", text);
  }

  // Only where there were some.
  void faults() {
    std::string_view label = "faults";
    for (const NodeStatistics& node : statistics_.nodes) {
      std::vector<std::string> items;
      for (const Counter& counter : statistics_.counters) {
        const bool fault = counter.unit == "faults" || counter.name == "rx_icrc_encapsulated" ||
                           counter.name == "rx_discards_phy";
        if (counter.node != node.name || !fault || counter.value == 0) continue;
        items.push_back(fmt::format("{} {}", counter.name, counter.value));
      }
      if (items.empty()) continue;
      item_lines(label, node, items);
      label = {};
    }
  }

  std::uint64_t misses(const NodeStatistics& node) const {
    std::uint64_t sum = 0;
    for (const CacheNames& cache : kCaches) sum += counter(node.name, cache.miss);
    return sum;
  }

  // Only of nodes in which something had to be fetched.
  void caches() {
    for (const NodeStatistics& node : statistics_.nodes) {
      if (misses(node) == 0) continue;
      std::string row = fmt::format("{:<{}}", cut(node.name, kNameColumns - 1), kNameColumns);
      std::string_view comma;
      for (const CacheNames& cache : kCaches) {
        const auto hit = static_cast<double>(counter(node.name, cache.hit));
        const auto all = hit + static_cast<double>(counter(node.name, cache.miss));
        if (all == 0) continue;
        row += fmt::format("{}{} {:.1f}%", comma, cache.title, 100 * hit / all);
        comma = ", ";
      }
      line("cache hits", row);
    }
  }

  std::string_view first(std::string_view label, const NodeStatistics& node) const {
    return &node == statistics_.nodes.data() ? label : std::string_view();
  }

  static std::string_view short_name(QueueKind queue) {
    if (queue == QueueKind::kReceive) return "RQ";
    return queue == QueueKind::kSend ? "SQ" : "CQ";
  }

  void occupancy() {
    std::string header(kNameColumns, ' ');
    for (const char* queue : {"RQ", "SQ", "CQ"}) {
      header += fmt::format("{:>3} mean   p99   max empty", queue);
    }
    line("occupancy", header);
    for (const NodeStatistics& node : statistics_.nodes) {
      std::string row = fmt::format("{:<{}}", cut(node.name, kNameColumns - 1), kNameColumns);
      for (const OccupancyStatistics& o : statistics_.occupancy) {
        if (o.node == node.name && o.queue != QueueKind::kSharedReceive) row += queue_text(o);
      }
      line("", row);
    }
    shared_occupancy();
  }

  // Few nodes have one.
  void shared_occupancy() {
    for (const OccupancyStatistics& o : statistics_.occupancy) {
      if (o.queue != QueueKind::kSharedReceive) continue;
      line("", fmt::format("{:<{}}SRQ mean   p99   max empty", "", kNameColumns));
      line("", fmt::format("{:<{}}", cut(o.node, kNameColumns - 1), kNameColumns) + queue_text(o));
    }
  }

  static std::string queue_text(const OccupancyStatistics& o) {
    const double mean = static_cast<double>(o.mean_thousandths) / 1000;
    const double empty = static_cast<double>(o.empty_millionths) / 10'000;
    return fmt::format("{:>8.1f} {:>5} {:>5} {:>4.0f}%", mean, o.p99, o.max, empty);
  }

  void utilisation() {
    for (const NodeStatistics& node : statistics_.nodes) {
      std::vector<std::string> items;
      for (const Utilisation& entry : statistics_.utilisation) {
        if (entry.node != node.name) continue;
        items.push_back(fmt::format("{} {:.1f}%", entry.resource, 100 * entry.share));
      }
      item_lines(first("utilisation", node), node, items);
    }
  }

  // Items of a node, on as many lines as they take.
  void item_lines(std::string_view label, const NodeStatistics& node,
                  const std::vector<std::string>& items) {
    std::string row = fmt::format("{:<{}}", cut(node.name, kNameColumns - 1), kNameColumns);
    bool begun = false;
    for (const std::string& item : items) {
      if (begun && kLabel + row.size() + item.size() + 3 > kColumns) {
        line(label, row + ',');
        label = {};
        row.assign(kNameColumns, ' ');
        begun = false;
      }
      row += (begun ? ", " : "") + item;
      begun = true;
    }
    line(label, row);
  }

  void simulation() {
    const double seconds = speed_.wall_seconds;
    const auto rate = [&](std::uint64_t amount) {
      return seconds > 0 ? static_cast<double>(amount) / seconds : 0.0;
    };
    line("simulation", fmt::format("{:.3f} s of wall clock: {}, {}", seconds,
                                   in_units(rate(statistics_.messages_completed), "messages/s"),
                                   in_units(rate(speed_.engine_events), "events/s")));
  }

  const RunStatistics statistics_;
  const RunSpeed& speed_;
  std::string text_;
};

}  // namespace

void print_summary(std::ostream& out, const RunStatistics& statistics, const RunSpeed& speed) {
  const bool many = statistics.nodes.size() > kMostNodesShown;
  out << Summary(many ? sum_of_nodes(statistics) : statistics, speed).text();
}

}  // namespace hcasim::sim
