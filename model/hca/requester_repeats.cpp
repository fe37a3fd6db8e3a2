// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// What is sent again, or not at all: after answers that say so, and when a gather fails.
#include <algorithm>
#include <utility>

#include "hca/requester.hpp"
#include "hca/send_scheduler.hpp"
#include "hca/wqe_fetch.hpp"

namespace hcasim::hca {

// The work request fails when those before it are done, and nothing is sent any more.
bool Requester::gather_failed(std::uint32_t qpn, fabric::Packet& packet, std::uint32_t port) {
  core_.scheduler->resume(port);
  QueuePair* qp = core_.qp(qpn);
  if (qp == nullptr) return false;
  SendState& send = qp->send;
  --send.gathers;
  InFlight* node = send.in_flight.first;
  while (node != nullptr && !hw::psn_within(packet.psn, node->first_psn, node->last_psn)) {
    node = node->next;
  }
  if (node == nullptr) return false;
  transmit_queues_.drop(qpn);
  node->status = hw::WcStatus::kLocQpOpErr;
  node->last_psn = hw::psn_add(packet.psn, -1);
  if (send.repeat == nullptr) {
    go_back(*qp, *node, packet.psn);
  } else {
    rewind(*qp,
           send.unacked_psn);  // it was repeating what came before, and some of that is dropped
  }
  settle(*qp);
  return false;
}

void Requester::rewind(QueuePair& qp, std::uint32_t psn) {
  SendState& send = qp.send;
  counters_.retransmitted_packets +=
      static_cast<std::uint64_t>(std::max(0, hw::psn_distance(psn, send.next_psn)));
  InFlight* node = send.in_flight.first;
  while (node != nullptr && hw::psn_before(node->last_psn, psn)) node = node->next;
  if (node == nullptr) return;
  go_back(qp, *node, psn);
  send.send = node->at;
  send.ssn = node->ssn;
  for (; node != nullptr; node = node->next) {
    if (std::exchange(node->outstanding, false)) --send.rd_outstanding;
  }
  core_.wqe_fetch->restart(qp);
  core_.wqe_fetch->request(qp);
}

// What is sent next is that PSN, of that work request.
void Requester::go_back(QueuePair& qp, InFlight& node, std::uint32_t psn) {
  SendState& send = qp.send;
  if (!qp.repeats(send.next_psn)) send.repeat_end = send.next_psn;
  send.repeat = &node;
  send.next_psn = psn;
  send.message.open = false;
}

void Requester::skip(QueuePair& qp, std::uint32_t psn) {
  SendState& send = qp.send;
  InFlight* const oldest = send.in_flight.first;
  send.next_psn = psn;
  core_.scheduler->activate(qp);
  if (oldest != nullptr && oldest == send.repeat) {
    if (!send.message.open) return;
    send.message.offset = offset_of(*oldest, psn, qp);
    return;
  }
  send.repeat = oldest;
  send.message.open = false;
  send.send = oldest != nullptr ? oldest->at : send.done;
  send.ssn = oldest != nullptr ? oldest->ssn : hw::psn_add(send.ssn_begun, 1);
  core_.wqe_fetch->restart(qp);
  core_.wqe_fetch->request(qp);
}

}  // namespace hcasim::hca
