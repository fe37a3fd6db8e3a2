// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include "hcasim/sim/trace.hpp"
#include "support/protocol_monitor/ack_timeout.hpp"
#include "support/protocol_monitor/captured_run.hpp"
#include "support/protocol_monitor/expect_clean.hpp"

namespace hcasim::support {

/// Holds both ends of all connections of a replay against the rules of the transport: what was
/// agreed stands in the trace, what was sent in the capture of the run. QPNs rise with the
/// `connect` lines, and the addresses of the nodes with their order in the trace.
class MonitoredReplay {
 public:
  MonitoredReplay(const std::filesystem::path& trace, const std::filesystem::path& capture)
      : run_(capture) {
    sim::TraceReader reader(trace);
    nodes_.resize(reader.nodes().size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i].name = reader.nodes()[i];
      monitor_.add_port();
    }
    sim::Operation operation;
    while (reader.next(operation)) {
      if (operation.verb == sim::Verb::kCreateSrq) {
        srqs_.insert({operation.node, operation.object});
      }
      if (operation.verb == sim::Verb::kConnect) connect(operation);
    }
  }

  void expect_clean(const monitor::CapturedLink& link = {}) {
    ASSERT_EQ(run_.ports(), nodes_.size());
    for (std::uint32_t port = 0; port < nodes_.size(); ++port) {
      ASSERT_EQ(run_.queue_pairs(port).size(), nodes_[port].queue_pairs);
    }
    run_.show(monitor_, link);
    EXPECT_EQ(monitor_.packets(), run_.packets());
    monitor::expect_clean(monitor_);
  }

 private:
  struct Node {
    sim::NameId name = sim::kNoName;
    std::size_t queue_pairs = 0;
  };
  struct End {
    std::uint32_t port;
    std::uint32_t qpn;
    std::uint32_t psn;
    bool uses_srq;
  };

  void connect(const sim::Operation& operation) {
    End a = take(operation.node, operation.value(sim::Arg::kPsn));
    End b = take(operation.peer_node, operation.value(sim::Arg::kPsnPeer));
    if (operation.has(sim::Arg::kSrq)) {
      const auto srq = static_cast<sim::NameId>(operation.value(sim::Arg::kSrq));
      a.uses_srq = srqs_.contains({operation.node, srq});
      b.uses_srq = srqs_.contains({operation.peer_node, srq});
    }
    add(operation, a, b);
    add(operation, b, a);
  }

  // The next queue pair of a node.
  End take(sim::NameId name, std::uint64_t psn) {
    std::uint32_t port = 0;
    while (nodes_.at(port).name != name) ++port;
    const std::size_t index = nodes_[port].queue_pairs++;
    const auto known = run_.queue_pairs(port);
    return {port, index < known.size() ? known[index] : 0, static_cast<std::uint32_t>(psn), false};
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
    monitor_.add(end.port, qp);
    run_.set_sender(end.port, peer.port, peer.qpn, end.qpn);
  }

  monitor::CapturedRun run_;
  monitor::ProtocolMonitor monitor_;
  std::vector<Node> nodes_;
  std::set<std::pair<sim::NameId, sim::NameId>> srqs_;  // node and name
};

}  // namespace hcasim::support
