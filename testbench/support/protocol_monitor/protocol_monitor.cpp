// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "support/protocol_monitor/protocol_monitor.hpp"

#include <string>

#include "support/protocol_monitor/context_qp.hpp"
#include "support/protocol_monitor/packet_rules.hpp"
#include "support/protocol_monitor/requester_rules.hpp"
#include "support/protocol_monitor/responder_rules.hpp"
#include "support/protocol_monitor/unreliable_rules.hpp"

namespace hcasim::monitor {

/// One queue pair.
struct ProtocolMonitor::Endpoint {
  Endpoint(const MonitoredQp& given, const MonitorOptions& options, const Judge& its_judge)
      : qp(given),
        judge(its_judge),
        requester(std::make_unique<RequesterRules>(qp, options, judge)),
        responder(qp, judge),
        unreliable(qp, judge) {}

  void sent(const Observation& seen) {
    if (!check_packet(qp, judge, seen)) return;
    if (qp.service != hw::Transport::kRc) return unreliable.sent(seen);
    if (seen.packet.info().response) return responder.sent(seen);
    requester->sent(seen);
  }
  // Of UC and UD nothing that is sent depends on what arrives.
  bool minds(const Observation& seen) const {
    return qp.service == hw::Transport::kRc &&
           hw::transport_of(seen.packet.opcode) == hw::Transport::kRc;
  }
  void arrived(const Observation& seen) {
    if (!minds(seen)) return;
    if (seen.packet.info().response) return requester->arrived(seen);
    responder.arrived(seen);
  }
  void discarded(const Observation& seen) {
    if (!minds(seen)) return;
    if (seen.packet.info().response) return requester->discarded(seen);
    responder.discarded(seen);
  }

  MonitoredQp qp;
  Judge judge;
  std::unique_ptr<RequesterRules> requester;
  ResponderRules responder;
  UnreliableRules unreliable;
};

void MonitoredPort::on_sent(const fabric::Packet& packet, hw::Time start) {
  monitor_.sent(number_, packet, start);
}

void MonitoredPort::on_arrived(const fabric::Packet& packet, hw::Time end) {
  monitor_.arrived(number_, packet, end);
}

void MonitoredPort::on_discarded(const fabric::Packet& packet, hw::Time at) {
  monitor_.discarded(number_, packet, at);
}

void MonitoredPort::on_qp_modified(const hw::QpContext& context, hw::QpState before, hw::Time) {
  const MonitoredQp qp = monitored(context);
  const bool new_state = context.state != before;
  if (context.state == hw::QpState::kInit) return;
  if (new_state && context.state == hw::QpState::kRtr) return monitor_.add(number_, qp);
  const bool begins = before == hw::QpState::kRtr && context.state == hw::QpState::kRts;
  if (begins) return monitor_.begin_sending(number_, qp);
  monitor_.change(number_, qp);
}

void MonitoredPort::on_qp_reset(std::uint32_t qpn, hw::Time) {
  monitor_.remove(number_, qpn);
}

namespace {
std::uint64_t key(std::uint32_t port, std::uint32_t qpn) {
  return std::uint64_t{port} << 32 | qpn;
}
}  // namespace

ProtocolMonitor::ProtocolMonitor(const MonitorOptions& options) : options_(options) {}

ProtocolMonitor::~ProtocolMonitor() = default;

MonitoredPort& ProtocolMonitor::add_port() {
  return ports_.emplace_back(*this, static_cast<std::uint32_t>(ports_.size()));
}

void ProtocolMonitor::add(std::uint32_t port, const MonitoredQp& qp) {
  remove(port, qp.qpn);
  endpoints_.emplace(key(port, qp.qpn),
                     std::make_unique<Endpoint>(qp, options_, Judge(violations_, port, qp.qpn)));
  by_remote_.insert_or_assign(key(port, qp.remote_qpn), qp.qpn);
}

void ProtocolMonitor::begin_sending(std::uint32_t port, const MonitoredQp& qp) {
  const auto found = endpoints_.find(key(port, qp.qpn));
  if (found == endpoints_.end()) return add(port, qp);
  Endpoint& endpoint = *found->second;
  endpoint.qp = qp;
  endpoint.requester = std::make_unique<RequesterRules>(endpoint.qp, options_, endpoint.judge);
  endpoint.unreliable = UnreliableRules(endpoint.qp, endpoint.judge);
}

void ProtocolMonitor::change(std::uint32_t port, const MonitoredQp& qp) {
  const auto found = endpoints_.find(key(port, qp.qpn));
  if (found != endpoints_.end()) found->second->qp = qp;
}

void ProtocolMonitor::remove(std::uint32_t port, std::uint32_t qpn) {
  const auto found = endpoints_.find(key(port, qpn));
  if (found == endpoints_.end()) return;
  const auto remote = by_remote_.find(key(port, found->second->qp.remote_qpn));
  if (remote != by_remote_.end() && remote->second == qpn) by_remote_.erase(remote);
  endpoints_.erase(found);
}

// A datagram names its sender, and the model names it in every packet; a packet of a capture is
// known by its destination, which has one peer only.
ProtocolMonitor::Endpoint* ProtocolMonitor::sender_of(std::uint32_t port,
                                                      const fabric::Packet& packet) {
  if (packet.src_qp != 0) {
    const auto named = endpoints_.find(key(port, packet.src_qp));
    if (named != endpoints_.end()) return named->second.get();
  }
  const auto remote = by_remote_.find(key(port, packet.dest_qp));
  if (remote == by_remote_.end()) return nullptr;
  return endpoints_.find(key(port, remote->second))->second.get();
}

void ProtocolMonitor::sent(std::uint32_t port, const fabric::Packet& packet, hw::Time at) {
  ++packets_;
  const Observation seen{packet, at};
  Endpoint* const sender = sender_of(port, packet);
  if (sender != nullptr) return sender->sent(seen);
  Judge(violations_, port, packet.src_qp).expect(false, Rule::kDestination, seen, [] {
    return "a packet of a queue pair that is connected";
  });
}

void ProtocolMonitor::arrived(std::uint32_t port, const fabric::Packet& packet, hw::Time at) {
  ++arrivals_;
  const auto found = endpoints_.find(key(port, packet.dest_qp));
  if (found != endpoints_.end()) found->second->arrived({packet, at});
}

void ProtocolMonitor::discarded(std::uint32_t port, const fabric::Packet& packet, hw::Time at) {
  const auto found = endpoints_.find(key(port, packet.dest_qp));
  if (found != endpoints_.end()) found->second->discarded({packet, at});
}

}  // namespace hcasim::monitor
