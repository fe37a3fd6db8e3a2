// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fabric/packet.hpp"
#include "hcasim/hw/wire/psn.hpp"
#include "hcasim/hw/wire/syndrome.hpp"
#include "support/protocol_monitor/protocol_monitor.hpp"

namespace hcasim::monitor {

using Op = hw::BthOpcode;
using Rules = std::vector<std::string>;

constexpr std::uint32_t kMtu = 256;
constexpr std::uint32_t kSq = 100;  // first PSN sent
constexpr std::uint32_t kRq = 500;  // first PSN expected

/// The packets of one queue pair, sent and arrived, a microsecond apart.
class Script {
 public:
  static MonitoredQp qp() {
    MonitoredQp qp;
    qp.qpn = 0x10;
    qp.remote_qpn = 0x20;
    qp.mtu = kMtu;
    qp.sq_psn = kSq;
    qp.rq_psn = kRq;
    qp.max_rd_atomic = 2;
    qp.ack_timeout = hw::kMillisecond;
    return qp;
  }

  /// Without credits a peer sets no limit.
  explicit Script(const MonitoredQp& monitored = qp(), bool credits = false) {
    monitor.add_port();
    monitor.add(0, monitored);
    if (!credits) arrived(ack(monitored.sq_psn - 1, 0));
    now_ = hw::kMicrosecond;
  }

  /// A packet of the queue pair, or one for it.
  static fabric::PacketHeaders packet(Op opcode, std::uint32_t psn) {
    fabric::PacketHeaders headers;
    headers.opcode = opcode;
    headers.psn = psn & hw::kPsnMask;
    headers.dest_qp = 0x20;
    headers.src_qp = 0x10;
    return headers;
  }
  static fabric::PacketHeaders remote(Op opcode, std::uint32_t psn, std::uint32_t length,
                                      std::uint64_t address = 0x1000) {
    fabric::PacketHeaders headers = packet(opcode, psn);
    headers.reth = {address, 7, length};
    return headers;
  }
  static fabric::PacketHeaders ack(std::uint32_t psn, std::uint32_t msn,
                                   std::uint8_t syndrome = hw::kNoCredits,
                                   Op opcode = Op::kRcAcknowledge) {
    fabric::PacketHeaders headers = packet(opcode, psn);
    headers.aeth = {syndrome, msn};
    return headers;
  }
  static fabric::PacketHeaders nak(std::uint32_t psn, std::uint32_t msn, hw::NakCode code) {
    return ack(psn, msn, hw::nak_syndrome(code));
  }

  Script& sent(const fabric::PacketHeaders& headers, std::size_t bytes = 0) {
    fill(headers, bytes);
    monitor.sent(0, *packet_, now_);
    return wait(hw::kMicrosecond);
  }
  Script& sent(Op opcode, std::uint32_t psn, std::size_t bytes = 0) {
    return sent(packet(opcode, psn), bytes);
  }
  Script& arrived(fabric::PacketHeaders headers, std::size_t bytes = 0) {
    std::swap(headers.dest_qp, headers.src_qp);
    fill(headers, bytes);
    monitor.arrived(0, *packet_, now_);
    return wait(hw::kMicrosecond);
  }
  Script& arrived(Op opcode, std::uint32_t psn, std::size_t bytes = 0) {
    return arrived(packet(opcode, psn), bytes);
  }
  /// A packet that arrived is dropped at once.
  Script& discarded(Op opcode, std::uint32_t psn, std::size_t bytes = 0) {
    fabric::PacketHeaders headers = packet(opcode, psn);
    std::swap(headers.dest_qp, headers.src_qp);
    fill(headers, bytes);
    monitor.discarded(0, *packet_, now_);
    return *this;
  }
  Script& wait(hw::Time time) {
    now_ += time;
    return *this;
  }

  /// The rules broken since the last call.
  Rules broken() {
    Rules names;
    for (const Violation& found : monitor.violations().kept()) {
      names.emplace_back(name_of(found.rule));
    }
    monitor.violations().clear();
    return names;
  }

  ProtocolMonitor monitor{{.reaction = 0}};

 private:
  void fill(const fabric::PacketHeaders& headers, std::size_t bytes) {
    packet_->set_headers(headers);
    packet_->resize_payload(bytes);
  }

  hw::Time now_ = 0;
  std::unique_ptr<fabric::Packet> packet_ = std::make_unique<fabric::Packet>();
};

inline const Rules kSilent{};

}  // namespace hcasim::monitor
