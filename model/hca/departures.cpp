// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/departures.hpp"

#include <algorithm>

#include "hca/requester.hpp"

namespace hcasim::hca {

// It counts as a packet under way, so that the queue pair is not reset before.
void Departures::wait(QueuePair& qp) {
  ++qp.send.gathers;
  schedule(std::max(now(), core_.ports[qp.out_port].out->free_at()), qp.context.qpn);
}

void Departures::on_event(std::uint64_t qpn) {
  QueuePair* qp = core_.qp(static_cast<std::uint32_t>(qpn));
  if (qp == nullptr) return;
  --qp->send.gathers;
  core_.requester->departed(*qp);
}

}  // namespace hcasim::hca
