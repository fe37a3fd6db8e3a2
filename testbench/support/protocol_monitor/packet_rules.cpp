// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "support/protocol_monitor/packet_rules.hpp"

#include <string>

namespace hcasim::monitor {

namespace {

bool may_be_solicited(const hw::OpcodeInfo& info) {
  if (!info.ends) return false;
  return info.operation == hw::Operation::kSend ||
         (info.operation == hw::Operation::kWrite && (info.headers & hw::kHasImmDt) != 0);
}

void check_datagram(const MonitoredQp& qp, const Judge& judge, const Observation& seen) {
  judge.expect(seen.packet.qkey == qp.qkey, Rule::kQkey, seen,
               [&] { return "Q_Key " + std::to_string(qp.qkey); });
  judge.expect(seen.packet.src_qp == qp.qpn, Rule::kSourceQp, seen,
               [&] { return "source QP " + std::to_string(qp.qpn); });
}

}  // namespace

bool check_packet(const MonitoredQp& qp, const Judge& judge, const Observation& seen) {
  const fabric::Packet& packet = seen.packet;
  const hw::OpcodeInfo& info = packet.info();
  const bool datagram = qp.service == hw::Transport::kUd;
  judge.expect(datagram || packet.dest_qp == qp.remote_qpn, Rule::kDestination, seen,
               [&] { return "destination QP " + std::to_string(qp.remote_qpn); });
  judge.expect(packet.pkey == qp.pkey, Rule::kPartition, seen,
               [&] { return "P_Key " + std::to_string(qp.pkey); });
  judge.expect(packet.version == 0 && packet.reserved_6 == 0 && packet.reserved_7 == 0,
               Rule::kHeader, seen, [] { return "zeroes"; });
  if (packet.opcode == hw::BthOpcode::kCnp) return false;
  judge.expect(!packet.solicited || may_be_solicited(info), Rule::kSolicited, seen,
               [] { return "SE clear"; });
  if (info.response && qp.service != hw::Transport::kRc) {
    judge.expect(false, Rule::kNoAnswer, seen, [] { return "requests only"; });
    return false;
  }
  const bool served =
      info.operation != hw::Operation::kNone && hw::transport_of(packet.opcode) == qp.service;
  if (!judge.expect(served, Rule::kService, seen, [] { return "an opcode of the service"; })) {
    return false;
  }
  if (datagram) check_datagram(qp, judge, seen);
  return true;
}

}  // namespace hcasim::monitor
