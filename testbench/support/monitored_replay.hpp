// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "hcasim/sim/trace.hpp"
#include "support/protocol_monitor/ack_timeout.hpp"
#include "support/protocol_monitor/captured_run.hpp"
#include "support/protocol_monitor/expect_clean.hpp"

namespace hcasim::support {

/// Holds both ends of all connections of a replay against the rules of the transport: what was
/// agreed stands in the trace, what was sent in the capture of the run. QPNs are 2, 4, ... in the
/// order of the lines, and the addresses of the nodes have the order of these in the trace.
class MonitoredReplay {
 public:
  MonitoredReplay(const std::filesystem::path& trace, const std::filesystem::path& capture,
                  const monitor::MonitorOptions& strictness = {})
      : run_(capture), monitor_(strictness) {
    sim::TraceReader reader(trace);
    for (std::size_t i = 0; i < run_.ports(); ++i) monitor_.add_port();
    for (const sim::NameId name : reader.nodes()) nodes_.push_back({name});
    sim::Operation operation;
    while (reader.next(operation)) {
      if (operation.verb == sim::Verb::kCreateSrq) {
        srqs_.insert({operation.node, operation.object});
      } else if (operation.verb == sim::Verb::kCreateQp) {
        judges_all_ = false;
      } else if (operation.verb == sim::Verb::kConnect) {
        connect(operation);
      }
    }
  }

  /// False when the trace makes queue pairs one by one: what they agree on is not followed.
  bool judges_all() const { return judges_all_; }

  void expect_clean(const monitor::CapturedLink& link = {}) {
    ASSERT_TRUE(judges_all_);
    for (const Node& node : nodes_) {
      const auto port = port_of(node);
      if (!port) continue;
      for (const std::uint32_t qpn : run_.queue_pairs(*port)) EXPECT_LT(qpn, node.next_qpn);
    }
    run_.show(monitor_, link);
    EXPECT_EQ(monitor_.packets(), run_.packets());
    monitor::expect_clean(monitor_);
  }

 private:
  static constexpr std::uint32_t kQpnStep = 2;

  struct Node {
    sim::NameId name = sim::kNoName;
    std::uint32_t next_qpn = kQpnStep;
  };
  struct End {
    std::optional<std::uint32_t> port;  // none where nothing was sent
    std::uint32_t qpn;
    std::uint32_t psn;
    bool uses_srq;
  };

  void connect(const sim::Operation& operation) {
    const auto port = static_cast<std::uint8_t>(operation.value(sim::Arg::kPort));
    End a = take(operation.node, operation.value(sim::Arg::kPsn), port);
    End b = take(operation.peer_node, operation.value(sim::Arg::kPsnPeer), port);
    if (operation.has(sim::Arg::kSrq)) {
      const auto srq = static_cast<sim::NameId>(operation.value(sim::Arg::kSrq));
      a.uses_srq = srqs_.contains({operation.node, srq});
      b.uses_srq = srqs_.contains({operation.peer_node, srq});
    }
    if (a.port) add(operation, a, b);
    if (b.port) add(operation, b, a);
  }

  // `number_there` is that of the adapter's port, 1-based.
  std::optional<std::uint32_t> port_of(const Node& node, std::uint8_t number_there = 1) const {
    const auto number = static_cast<std::size_t>(&node - nodes_.data()) + 1;
    hw::Gid address{};
    address[10] = address[11] = 0xff;
    address[12] = 10;
    address[13] = static_cast<std::uint8_t>(number_there - 1);
    address[14] = static_cast<std::uint8_t>(number >> 8);
    address[15] = static_cast<std::uint8_t>(number);
    return run_.port(address);
  }

  // The next queue pair of a node.
  End take(sim::NameId name, std::uint64_t psn, std::uint8_t port) {
    const auto node = std::ranges::find(nodes_, name, &Node::name);
    const std::uint32_t qpn = node->next_qpn;
    node->next_qpn += kQpnStep;
    return {port_of(*node, port), qpn, static_cast<std::uint32_t>(psn), false};
  }

  void add(const sim::Operation& operation, const End& end, const End& peer) {
    monitor::MonitoredQp qp;
    qp.qpn = end.qpn;
    qp.remote_qpn = peer.qpn;
    const auto type = static_cast<sim::ServiceType>(operation.value(sim::Arg::kType));
    if (type == sim::ServiceType::kUc) qp.service = hw::Transport::kUc;
    if (type == sim::ServiceType::kUd) qp.service = hw::Transport::kUd;
    qp.qkey = static_cast<std::uint32_t>(operation.value(sim::Arg::kQkey));
    qp.sq_psn = end.psn;
    qp.rq_psn = peer.psn;
    qp.mtu = static_cast<std::uint32_t>(operation.value(sim::Arg::kMtu));
    qp.max_rd_atomic = static_cast<std::uint32_t>(operation.value(sim::Arg::kMaxRdAtomic));
    qp.uses_srq = end.uses_srq;
    qp.ack_timeout =
        monitor::ack_timeout(static_cast<std::uint8_t>(operation.value(sim::Arg::kTimeout)));
    monitor_.add(*end.port, qp);
    if (peer.port) run_.set_sender(*end.port, *peer.port, peer.qpn, end.qpn);
  }

  monitor::CapturedRun run_;
  monitor::ProtocolMonitor monitor_;
  std::vector<Node> nodes_;
  bool judges_all_ = true;
  std::set<std::pair<sim::NameId, sim::NameId>> srqs_;  // node and name
};

}  // namespace hcasim::support
