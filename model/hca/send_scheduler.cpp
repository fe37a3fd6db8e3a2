// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/send_scheduler.hpp"

#include <algorithm>
#include <utility>

#include "hca/requester.hpp"

namespace hcasim::hca {

namespace {
StageTiming combined(const Parameters& parameters) {
  const StageTiming& scheduler = parameters.scheduler.timing;
  const StageTiming& requester = parameters.requester.timing;
  const std::uint32_t look_ups = parameters.qpc_cache.hit_latency_cycles +
                                 parameters.mpt_cache.hit_latency_cycles +
                                 parameters.mtt_cache.hit_latency_cycles;
  return {scheduler.latency_cycles + requester.latency_cycles + look_ups,
          std::max(scheduler.interval_cycles, requester.interval_cycles)};
}
}  // namespace

SendScheduler::SendScheduler(Core& core)
    : Unit(core.engine, "requester"), core_(core), stage_(core.clock, combined(core.parameters)) {}

void SendScheduler::activate(QueuePair& qp) {
  if (qp.send.active) return;
  qp.send.active = true;
  ring_.push({qp.context.qpn, false, now()});
  arrange();
}

void SendScheduler::resume() {
  if (!held_up_) return;
  held_up_ = false;
  resumed_at_ = now();
  arrange();
}

// Turns follow each other in the pipeline: the next one entered an interval after the last, which
// may be before the last one's packet came out.
void SendScheduler::arrange() {
  if (scheduled_ || ring_.empty()) return;
  held_up_ = core_.requester->full();
  if (held_up_) return;
  scheduled_ = true;
  schedule(stage_.enter(std::max(ring_.front().since, resumed_at_)));
}

// False when the queue pair whose turn it is has left the ring to wait for its context.
inline bool SendScheduler::has_context() {
  Place& place = ring_.front();
  if (std::exchange(place.fetched, false) || core_.caches.qpc.look_up(place.qpn)) return true;
  QueuePair* const qp = core_.qp(place.qpn);
  if (qp == nullptr) return true;  // destroyed
  ++qp->lookups;
  core_.caches.qpc.fetch(place.qpn, *this, place.qpn);
  ring_.drop();
  burst_ = 0;
  return false;
}

void SendScheduler::on_context(std::uint64_t qpn) {
  --core_.qp(static_cast<std::uint32_t>(qpn))->lookups;
  ring_.push({static_cast<std::uint32_t>(qpn), true, now()});
  arrange();
}

void SendScheduler::on_event(std::uint64_t) {
  scheduled_ = false;
  ++counters_.turns;
  if (!has_context()) return arrange();
  QueuePair* qp = core_.qp(ring_.front().qpn);
  const bool sent = qp != nullptr && core_.requester->transmit(*qp);
  if (!sent) ++counters_.blocked;
  const hw::Time more = sent ? core_.requester->more_since(*qp) : hw::kNever;
  if (more == hw::kNever) {
    if (qp != nullptr) qp->send.active = false;
    ring_.pop();
    burst_ = 0;
  } else {
    ring_.front().since = more;
    if (++burst_ == core_.parameters.scheduler.burst_packets) {
      ring_.push(ring_.pop());
      burst_ = 0;
    }
  }
  // The port's buffer is bounded: the next packet is made when all but `port_lead` of it has left.
  stage_.hold_until(core_.port->free_at() - core_.port_lead - stage_.latency());
  arrange();
}

}  // namespace hcasim::hca
