// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The packets of the responder that wait: held ones for the context of their queue pair, pending
// ones for a receive WQE, an atomic or translations. What becomes of them when it is stopped.
#include <utility>

#include "hca/completion_unit.hpp"
#include "hca/receive_queue_port.hpp"
#include "hca/responder.hpp"
#include "hca/response_unit.hpp"

namespace hcasim::hca {

// The first to be held is always taken.
void Responder::hold(QueuePair& qp, fabric::PacketPtr packet) {
  if (qp.held && waiting_packets_ >= core_.parameters.responder.buffer_packets) {
    ++counters_.rx_buffer_full;
    core_.discarded(*packet);
    return;
  }
  qp.held = true;
  ++waiting_packets_;
  packet->next = nullptr;
  (qp.held_first == nullptr ? qp.held_first : qp.held_last->next) = packet.get();
  qp.held_last = packet.release();
}

fabric::PacketPtr Responder::take_held(QueuePair& qp) {
  --waiting_packets_;
  fabric::Packet* first = qp.held_first;
  qp.held_first = first->next;
  return fabric::PacketPtr::adopt(first);
}

// The context is here; with `fetched` the translations for the answer that is the first held.
void Responder::go_on(QueuePair& qp, bool fetched) {
  for (; qp.held_first != nullptr; fetched = false) {
    fabric::PacketPtr packet = take_held(qp);
    if (dispatch(qp, packet, fetched)) continue;
    ++waiting_packets_;
    packet->next = qp.held_first;
    if (qp.held_first == nullptr) qp.held_last = packet.get();
    qp.held_first = packet.release();
    return;
  }
  qp.held = false;
}

void Responder::drop_held(QueuePair& qp) {
  while (qp.held_first != nullptr) take_held(qp).reset();
}

void Responder::fetch_for_answer(QueuePair& qp, const Missing& missing) {
  ++qp.lookups;
  core_.caches.translation.fetch(missing, *this, kForAnswer | qp.context.qpn);
}

void Responder::on_context(std::uint64_t token) {
  QueuePair* qp = core_.qp(static_cast<std::uint32_t>(token));  // none goes before
  --qp->lookups;
  if ((token & (kForHeld | kForAnswer)) != 0) return go_on(*qp, (token & kForAnswer) != 0);
  if (qp->receive.waiting != Waiting::kTranslation) return;
  qp->receive.waiting = Waiting::kNothing;
  fetched_ = true;
  const Verdict verdict = carry_out(*qp, *qp->receive.pending_first);
  fetched_ = false;
  if (verdict == Verdict::kWait) return;
  drop_first_pending(*qp);
  run_pending(*qp);
}

// Goes on with the packets that waited, the one that caused the wait first.
void Responder::run_pending(QueuePair& qp) {
  ReceiveState& receive = qp.receive;
  while (receive.pending_first != nullptr && receive.waiting == Waiting::kNothing) {
    if (process(qp, *receive.pending_first) == Verdict::kWait) return;
    drop_first_pending(qp);
  }
}

void Responder::drop_first_pending(QueuePair& qp) {
  fabric::Packet* done = qp.receive.pending_first;
  if (done == nullptr) return;  // the queue pair was stopped meanwhile
  qp.receive.pending_first = done->next;
  --waiting_packets_;
  fabric::PacketPtr::adopt(done).reset();
}

void Responder::drop_pending(QueuePair& qp) {
  while (qp.receive.pending_first != nullptr) drop_first_pending(qp);
}

}  // namespace hcasim::hca
