// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "support/protocol_monitor/monitored_qp.hpp"
#include "support/protocol_monitor/violations.hpp"

namespace hcasim::monitor {

/// The rules that a packet of this queue pair keeps or breaks alone. That a packet has the headers
/// of its opcode and as many pad bytes as it needs follows from the form of fabric::Packet; that an
/// immediate, an IETH or an AETH stands where it may follows from the opcode.
/// @return false when the opcode is not one of the queue pair's service
bool check_packet(const MonitoredQp& qp, const Judge& judge, const Observation& seen);

}  // namespace hcasim::monitor
