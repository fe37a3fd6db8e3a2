// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/import/replay_plan.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "hcasim/hw/wire/psn.hpp"
#include "hcasim/hw/wr_opcode_kinds.hpp"

namespace hcasim::sim {
namespace {

// A jump of PSNs beyond this is another use of the same queue pairs, as in the analysis.
constexpr std::int64_t kFar = 1 << 18;

/// The path MTU of a connection: the smallest of the five from `least` on.
std::uint32_t round_to_mtu(std::uint64_t least) {
  std::uint32_t mtu = 256;
  while (mtu < least && mtu < 4096) mtu *= 2;
  return mtu;
}

class Planner {
 public:
  Planner(const CaptureAnalysis& analysis, const ImportOptions& options)
      : analysis_(analysis), options_(options) {}

  ReplayPlan run() {
    for (const CapturedMessage& record : analysis_.records) take(record);
    name_nodes();
    for (PlannedConnection& connection : plan_.connections) order_by_psn(connection);
    order_by_time();
    for (PlannedConnection& connection : plan_.connections) describe(connection);
    if (options_.timing == TimingPolicy::kAsap) find_causes();
    return std::move(plan_);
  }

 private:
  using Ends = std::tuple<hw::Transport, Endpoint, Endpoint>;

  void take(const CapturedMessage& record) {
    const bool served = record.transport == hw::Transport::kRc ||
                        record.transport == hw::Transport::kUc ||
                        record.transport == hw::Transport::kUd;
    if (!served) {
      ++plan_.other_transports;
    } else if (record.outcome == MessageOutcome::kUnfinished) {
      ++plan_.unfinished;
    } else {
      add(record);
    }
  }

  void add(const CapturedMessage& record) {
    const auto [low, high] = std::minmax(record.requester, record.responder);
    const Ends ends(record.transport, low, high);
    const auto [open, fresh] = open_.try_emplace(ends, plan_.connections.size());
    if (fresh) {
      plan_.connections.emplace_back();
      plan_.connections.back().ends = {low, high};
      plan_.connections.back().transport = record.transport;
      plan_.connections.back().qkey = record.qkey;
    }
    PlannedMessage message;
    message.record = &record;
    message.connection = open->second;
    message.side = record.requester == low ? 0 : 1;
    message.time = record.first_packet;
    plan_.connections[message.connection].sent[message.side].push_back(plan_.messages.size());
    if (message.refused()) open_.erase(open);
    plan_.messages.push_back(message);
  }

  void name_nodes() {
    std::set<hw::Gid> addresses;
    for (const PlannedConnection& connection : plan_.connections) {
      for (const Endpoint& end : connection.ends) addresses.insert(end.address);
    }
    plan_.nodes.assign(addresses.begin(), addresses.end());
  }

  // Packets that were lost before they were captured change the order of first sight, not that of
  // PSNs. A message cannot be posted before the one in front of it.
  void order_by_psn(PlannedConnection& connection) {
    for (std::vector<std::size_t>& sent : connection.sent) {
      std::vector<std::pair<std::int64_t, std::size_t>> places;
      std::int64_t highest = 0;
      for (const std::size_t message : sent) {
        const std::uint32_t psn = plan_.messages[message].record->first_psn;
        const std::int64_t step =
            hw::psn_distance(static_cast<std::uint32_t>(highest) & hw::kPsnMask, psn);
        const bool far = places.empty() || std::abs(step) > kFar;
        const std::int64_t place = far ? beyond(highest, psn) : highest + step;
        places.emplace_back(place, message);
        highest = std::max(highest, place);
      }
      std::ranges::stable_sort(places);
      hw::Time earliest = std::numeric_limits<hw::Time>::min();
      for (std::size_t i = 0; i < sent.size(); ++i) {
        sent[i] = places[i].second;
        hw::Time& time = plan_.messages[sent[i]].time;
        earliest = time = std::max(time, earliest);
      }
    }
  }

  // A place with this PSN behind all places so far.
  static std::int64_t beyond(std::int64_t highest, std::uint32_t psn) {
    constexpr std::int64_t kTurn = std::int64_t{hw::kPsnMask} + 1;
    return (highest / kTurn + 2) * kTurn + psn;
  }

  // Lines of a trace go by time; messages of one side keep their order.
  void order_by_time() {
    std::vector<std::size_t> order;
    for (const PlannedConnection& connection : plan_.connections) {
      for (const auto& sent : connection.sent) order.insert(order.end(), sent.begin(), sent.end());
    }
    std::ranges::stable_sort(order, {}, [this](std::size_t i) { return plan_.messages[i].time; });
    std::vector<PlannedMessage> sorted;
    for (PlannedConnection& connection : plan_.connections) {
      for (auto& sent : connection.sent) sent.clear();
    }
    for (const std::size_t i : order) {
      const PlannedMessage& message = plan_.messages[i];
      plan_.connections[message.connection].sent[message.side].push_back(sorted.size());
      sorted.push_back(message);
    }
    plan_.messages = std::move(sorted);
    if (!plan_.messages.empty()) plan_.start = plan_.messages.front().time;
    for (PlannedMessage& message : plan_.messages) message.time -= plan_.start;
  }

  void describe(PlannedConnection& connection) {
    std::uint64_t longest = options_.mtu;
    for (std::size_t side = 0; side < 2; ++side) {
      for (const std::size_t place : connection.sent[side]) {
        const CapturedMessage& record = *plan_.messages[place].record;
        connection.mtu = std::max(connection.mtu, record.path_mtu);
        longest = std::max(longest, record.bytes);
        if (record.rnr_timer_code) connection.rnr_timer_code = record.rnr_timer_code;
        if (hw::takes_receive(record.opcode)) add_receive(connection, side, place);
      }
      if (connection.sent[side].empty()) continue;
      const std::size_t first = connection.sent[side].front();
      connection.first_psn[side] = plan_.messages[first].record->first_psn;
    }
    connection.mtu = round_to_mtu(connection.mtu != 0 ? connection.mtu : longest);
  }

  void add_receive(PlannedConnection& connection, std::size_t side, std::size_t place) {
    PlannedMessage& message = plan_.messages[place];
    message.receive_place = connection.received[side].size();
    connection.received[side].push_back(place);
    connection.longest[side] = std::max(connection.longest[side], message.record->bytes);
  }

  // A message was posted after the last thing that its node saw complete on the connection: a
  // message of the peer, or one of its own, whose place in the queue it may have needed.
  void find_causes() {
    for (const PlannedConnection& connection : plan_.connections) {
      for (std::size_t side = 0; side < 2; ++side) {
        std::size_t own = 0;
        std::size_t peer = 0;
        for (const std::size_t place : connection.sent[side]) {
          own = advance(connection.sent[side], own, place, false);
          peer = advance(connection.received[1 - side], peer, place, true);
          choose(connection.sent[side], own, connection.received[1 - side], peer, place);
        }
      }
    }
  }

  // The number of those in `list` that were complete before the message at `place` began.
  std::size_t advance(const std::vector<std::size_t>& list, std::size_t count, std::size_t place,
                      bool receive) const {
    const hw::Time limit = plan_.messages[place].record->first_packet;
    while (count < list.size() && list[count] < place && end_of(list[count], receive) < limit) {
      ++count;
    }
    return count;
  }

  hw::Time end_of(std::size_t place, bool receive) const {
    const CapturedMessage& record = *plan_.messages[place].record;
    if (receive && record.accepted) return *record.accepted;
    return record.completed.value_or(hw::kNever);
  }

  void choose(const std::vector<std::size_t>& sent, std::size_t own,
              const std::vector<std::size_t>& received, std::size_t peer, std::size_t place) {
    PlannedMessage& message = plan_.messages[place];
    if (own == 0 && peer == 0) return;
    // Times may lie before the first frame's, so that no time stands for "none".
    message.after_receive =
        own == 0 || (peer != 0 && end_of(received[peer - 1], true) >= end_of(sent[own - 1], false));
    message.after = message.after_receive ? received[peer - 1] : sent[own - 1];
  }

  const CaptureAnalysis& analysis_;
  const ImportOptions& options_;
  ReplayPlan plan_;
  std::map<Ends, std::size_t> open_;  // connections that may still grow
};

}  // namespace

ReplayPlan make_plan(const CaptureAnalysis& analysis, const ImportOptions& options) {
  return Planner(analysis, options).run();
}

}  // namespace hcasim::sim
