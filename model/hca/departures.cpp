// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/departures.hpp"

#include <algorithm>

#include "hca/requester.hpp"
#include "hca/response_unit.hpp"

namespace hcasim::hca {

// It counts as a packet under way, so that the queue pair is not reset before.
void Departures::wait(QueuePair& qp, hw::Time start) {
  ++qp.send.gathers;
  if (start == fabric::kStartsLater) return ports_[qp.out_port].wait(qp.context.qpn);
  schedule(std::max(now(), core_.ports[qp.out_port].out->free_at()), qp.context.qpn);
}

void Departures::on_event(std::uint64_t qpn) {
  QueuePair* qp = core_.qp(static_cast<std::uint32_t>(qpn));
  if (qp == nullptr) return;
  --qp->send.gathers;
  core_.requester->departed(*qp);
}

void Departures::PausedPort::started(const fabric::Departure& departure) {
  const hw::OpcodeInfo& info = hw::opcode_info(departure.opcode);
  if (info.response) return;
  owner_.core_.requester->stamp_packet(departure.message, info, departure.start);
  const hw::Transport service = hw::transport_of(departure.opcode);
  if (info.ends && (service == hw::Transport::kUc || service == hw::Transport::kUd)) {
    owner_.schedule(departure.end, waiting_.pop());
  }
}

void Departures::PausedPort::port_stops() {
  owner_.core_.ports[index_].stopped = true;
}

void Departures::PausedPort::port_goes_on() {
  owner_.core_.ports[index_].stopped = false;
  owner_.core_.requester->transmit_queues()[index_].send_ready();
  owner_.core_.response->transmit_queues()[index_].send_ready();
}

}  // namespace hcasim::hca
