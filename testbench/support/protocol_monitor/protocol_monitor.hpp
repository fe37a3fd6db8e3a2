// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>

#include "fabric/link.hpp"
#include "hca/observer.hpp"
#include "support/protocol_monitor/monitored_qp.hpp"
#include "support/protocol_monitor/violations.hpp"

namespace hcasim::monitor {

class ProtocolMonitor;

/// Tells a monitor of one port: of its packets, and of the queue pairs behind it.
class MonitoredPort final : public fabric::PacketObserver, public hca::TransportObserver {
 public:
  MonitoredPort(ProtocolMonitor& monitor, std::uint32_t number)
      : monitor_(monitor), number_(number) {}

  void on_sent(const fabric::Packet& packet, hw::Time start) override;
  void on_arrived(const fabric::Packet& packet, hw::Time end) override;
  void on_discarded(const fabric::Packet& packet, hw::Time at) override;
  void on_qp_modified(const hw::QpContext& context, hw::QpState before, hw::Time at) override;
  void on_qp_reset(std::uint32_t qpn, hw::Time at) override;

 private:
  ProtocolMonitor& monitor_;
  std::uint32_t number_;
};

/// Watches the packets of a test and finds those that break a rule of their transport. It judges
/// each queue pair that it is told of by what that queue pair can know: what it put on the wire and
/// what arrived at its port, in this order of time. So packets may be lost, doubled and change
/// places in between, and the far end may be a script that keeps no rule.
class ProtocolMonitor {
 public:
  explicit ProtocolMonitor(const MonitorOptions& options = {});
  ~ProtocolMonitor();
  ProtocolMonitor(const ProtocolMonitor&) = delete;
  ProtocolMonitor& operator=(const ProtocolMonitor&) = delete;

  /// A further port, of which the observer that is returned is to be told. Ports have the numbers
  /// 0, 1, ... The observer lives as long as the monitor.
  MonitoredPort& add_port();
  /// A queue pair begins a life on a port, from its first PSNs on. One of the same number is
  /// forgotten.
  void add(std::uint32_t port, const MonitoredQp& qp);
  /// A queue pair is told its first PSN to send only now; what it received so far remains.
  void begin_sending(std::uint32_t port, const MonitoredQp& qp);
  /// A queue pair has other attributes from now on; where it is in its life is as it was.
  void change(std::uint32_t port, const MonitoredQp& qp);
  void remove(std::uint32_t port, std::uint32_t qpn);

  /// The port puts the packet on the wire.
  void sent(std::uint32_t port, const fabric::Packet& packet, hw::Time at);
  /// The packet is in at the port.
  void arrived(std::uint32_t port, const fabric::Packet& packet, hw::Time at);
  /// The newest packet like this that arrived at the port was dropped for want of room.
  void discarded(std::uint32_t port, const fabric::Packet& packet, hw::Time at);

  const Violations& violations() const { return violations_; }
  Violations& violations() { return violations_; }
  /// Packets that were judged.
  std::uint64_t packets() const { return packets_; }
  /// Packets that were seen to come in.
  std::uint64_t arrivals() const { return arrivals_; }

 private:
  struct Endpoint;

  Endpoint* sender_of(std::uint32_t port, const fabric::Packet& packet);

  MonitorOptions options_;
  Violations violations_;
  std::uint64_t packets_ = 0;
  std::uint64_t arrivals_ = 0;
  std::deque<MonitoredPort> ports_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Endpoint>> endpoints_;  // by port and QPN
  std::unordered_map<std::uint64_t, std::uint32_t> by_remote_;  // QPN by port and remote QPN
};

}  // namespace hcasim::monitor
