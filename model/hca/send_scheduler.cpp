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
  lanes_[qp.out_port].ring.push({qp.context.qpn, false, now()});
  arrange(qp.out_port);
}

void SendScheduler::resume(std::uint32_t port) {
  if (lanes_[port].resume(now())) arrange(port);
}

// Turns follow each other in the pipeline: the next one entered an interval after the last, which
// may be before the last one's packet came out.
void SendScheduler::arrange(std::uint64_t port) {
  Lane& lane = lanes_[port];
  const auto full = [&] { return core_.requester->full(static_cast<std::uint32_t>(port)); };
  if (!lane.arrange(full)) return;
  const hw::Time at = next_turn(core_, lane, stage_, now(), port);
  schedule(at, port);
}

// False when the queue pair whose turn it is has left the ring to wait for its context.
inline bool SendScheduler::has_context(Lane& lane, std::uint64_t port) {
  Place& place = lane.ring.front();
  if (std::exchange(place.fetched, false) || core_.caches.qpc.look_up(place.qpn)) return true;
  QueuePair* const qp = core_.qp(place.qpn);
  if (qp == nullptr) return true;  // destroyed
  ++qp->lookups;
  core_.caches.qpc.fetch(place.qpn, *this, port << 32 | place.qpn);
  lane.ring.drop();
  lane.burst = 0;
  return false;
}

void SendScheduler::on_context(std::uint64_t token) {
  const std::uint64_t port = token >> 32;
  const auto qpn = static_cast<std::uint32_t>(token);
  --core_.qp(qpn)->lookups;
  lanes_[port].ring.push({qpn, true, now()});
  arrange(port);
}

// True when the queue pair whose turn it is has left the ring, as it sends by another port now.
bool SendScheduler::has_moved(Lane& lane, std::uint64_t port) {
  QueuePair* const qp = core_.qp(lane.ring.front().qpn);
  if (qp == nullptr) return false;
  const bool waits = !core_.requester->choose_port(*qp);  // its last departure wakes it
  if (!waits && qp->out_port == port) return false;
  lane.ring.pop();
  lane.burst = 0;
  if (waits) {
    qp->send.active = false;
    return true;
  }
  lanes_[qp->out_port].ring.push({qp->context.qpn, true, now()});
  arrange(qp->out_port);
  return true;
}

void SendScheduler::on_event(std::uint64_t argument) {
  const std::uint64_t port = Lane::port_of(argument);
  Lane& lane = lanes_[port];
  if (!lane.has_turn(argument)) return arrange(port);
  ++counters_.turns;
  if (!has_context(lane, port)) return arrange(port);
  if (core_.several_ports() && has_moved(lane, port)) return arrange(port);
  take_turn(lane);
  hold_for_room(core_, port, lane, stage_);
  arrange(port);
}

inline void SendScheduler::take_turn(Lane& lane) {
  QueuePair* qp = core_.qp(lane.ring.front().qpn);
  const bool sent = qp != nullptr && core_.requester->transmit(*qp);
  if (!sent) ++counters_.blocked;
  const hw::Time more = sent ? core_.requester->more_since(*qp) : hw::kNever;
  if (more == hw::kNever) {
    if (qp != nullptr) qp->send.active = false;
    lane.ring.pop();
    lane.burst = 0;
    return;
  }
  lane.ring.front().since = more;
  if (++lane.burst == core_.parameters.scheduler.burst_packets) {
    lane.ring.push(lane.ring.pop());
    lane.burst = 0;
  }
}

}  // namespace hcasim::hca
