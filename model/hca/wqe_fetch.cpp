// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/wqe_fetch.hpp"

#include <algorithm>
#include <bit>

#include "hca/qp_control.hpp"
#include "hca/send_scheduler.hpp"
#include "hcasim/hw/wqe.hpp"

namespace hcasim::hca {

WqeFetch::WqeFetch(Core& core)
    : Unit(core.engine, "wqe_fetch"),
      core_(core),
      stage_(core.clock, core.parameters.wqe_fetch.timing.with_latency(
                             core.parameters.qpc_cache.hit_latency_cycles)) {}

void WqeFetch::doorbell(QueuePair& qp, std::uint32_t head, hw::Time arrival) {
  SendState& send = qp.send;
  const std::uint32_t size = qp.context.sq_size;
  if (qp.context.state < hw::QpState::kRts || head >= size) {
    core_.qp_control->bad_send_doorbell(qp);
    return;
  }
  const std::uint32_t steps =
      head >= send.head.slot ? head - send.head.slot : head + size - send.head.slot;
  if (send.head.count - send.done.count + steps >= size) {
    core_.qp_control->bad_send_doorbell(qp);
    return;
  }
  stamp_doorbell(qp, steps, arrival);
  send.head.advance(steps, size);
  if (qp.flushes()) {
    core_.qp_control->flush_sends(qp);
  } else {
    request(qp);
  }
}

FetchBuffer& WqeFetch::keep(std::span<const std::uint8_t> wqe) {
  FetchBuffer& buffer = buffers_.acquire();
  buffer.kept = static_cast<std::uint16_t>(wqe.size());
  const auto rest = std::ranges::copy(wqe, buffer.bytes.begin()).out;
  std::fill(rest, buffer.bytes.end(), std::uint8_t{0});
  return buffer;
}

bool WqeFetch::blue_flame(QueuePair& qp, std::uint32_t head, hw::Time arrival, FetchBuffer& wqe) {
  const bool taken = is_next(qp, head) && is_whole(qp, wqe);
  if (taken) {
    enqueue(qp, wqe);
  } else {
    discard(wqe);
  }
  doorbell(qp, head, arrival);
  return taken;
}

// Nothing posted earlier is left to fetch, and the doorbell is one that will be accepted.
bool WqeFetch::is_next(const QueuePair& qp, std::uint32_t head) const {
  const SendState& send = qp.send;
  RingPointer next = send.head;
  next.advance(1, qp.context.sq_size);
  return qp.begins() && head == next.slot && send.fetch.count == send.head.count &&
         next.count - send.done.count < qp.context.sq_size &&
         next.count - send.send.count <= core_.parameters.wqe_fetch.prefetch_wqes;
}

bool WqeFetch::is_whole(const QueuePair& qp, const FetchBuffer& wqe) {
  const auto control = hw::load<hw::SendWqeControl>(wqe.bytes.data());
  const std::uint32_t most = std::min<std::uint32_t>(wqe.kept, qp.context.sq_stride);
  return control.index == qp.send.head.slot && hw::send_wqe_bytes(control, qp.context.type) <= most;
}

// Like a fetch that is under way, up to the end of the stage.
void WqeFetch::enqueue(QueuePair& qp, FetchBuffer& wqe) {
  wqe.qpn = qp.context.qpn;
  wqe.first = 0;
  wqe.count = 1;
  wqe.arrived = wqe.void_ = false;
  qp.send.buffers.push_back(wqe);
  ++qp.send.fetches;
  qp.send.fetch.advance(1, qp.context.sq_size);
  queue_.push(qp.context.qpn | kOnChip);
  on_chip_.push(&wqe);
  schedule(stage_.enter(now()));
}

inline void WqeFetch::stamp_doorbell(const QueuePair& qp, std::uint32_t count, hw::Time at) {
  if (core_.observer == nullptr) return;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t message =
        core_.observer->message_of(qp.context.qpn, qp.send.head.count + i);
    core_.stamp(message, Stamp::kDoorbellSeen, at);
  }
}

inline bool WqeFetch::wants_fetch(const QueuePair& qp) const {
  const SendState& send = qp.send;
  return qp.begins() && send.fetch.count < send.head.count &&
         send.fetch.count - send.send.count < core_.parameters.wqe_fetch.prefetch_wqes;
}

void WqeFetch::enqueue(QueuePair& qp) {
  if (!wants_fetch(qp)) return;
  qp.send.fetch_queued = true;
  queue_.push(qp.context.qpn);
  schedule(stage_.enter(now()));
}

void WqeFetch::on_event(std::uint64_t) {
  const std::uint32_t place = queue_.pop();
  const std::uint32_t qpn = place & ~(kFetched | kOnChip);
  if ((place & kOnChip) != 0) {
    return on_dma_read(std::bit_cast<std::uint64_t>(on_chip_.pop()), false);
  }
  QueuePair* qp = core_.qp(qpn);
  if (qp == nullptr) return;
  if (place == qpn && !core_.caches.qpc.look_up(qpn)) {
    ++qp->lookups;
    return core_.caches.qpc.fetch(qpn, *this, qpn);
  }
  qp->send.fetch_queued = false;
  if (!wants_fetch(*qp)) return;
  issue(*qp);
  request(*qp);
}

void WqeFetch::on_context(std::uint64_t qpn) {
  --core_.qp(static_cast<std::uint32_t>(qpn))->lookups;
  queue_.push(static_cast<std::uint32_t>(qpn) | kFetched);
  schedule(stage_.enter(now()));
}

// One read: as many slots as are posted, fit the prefetch room and the buffer, and lie before the
// end of the ring.
inline void WqeFetch::issue(QueuePair& qp) {
  SendState& send = qp.send;
  const Parameters::WqeFetch& limits = core_.parameters.wqe_fetch;
  const std::uint32_t stride = qp.context.sq_stride;
  const auto posted = static_cast<std::uint32_t>(send.head.count - send.fetch.count);
  const auto room =
      limits.prefetch_wqes - static_cast<std::uint32_t>(send.fetch.count - send.send.count);
  const std::uint32_t bytes = std::min(limits.fetch_bytes, FetchBuffer::kBytes);
  std::uint32_t count = std::min({posted, room, qp.context.sq_size - send.fetch.slot});
  if (count * stride > bytes) count = std::max(1u, bytes / stride);

  FetchBuffer& buffer = buffers_.acquire();
  buffer.qpn = qp.context.qpn;
  buffer.first = 0;
  buffer.count = static_cast<std::uint16_t>(count);
  buffer.arrived = buffer.void_ = false;
  send.buffers.push_back(buffer);
  ++send.fetches;
  ++counters_.fetches;
  counters_.wqes += count;
  const std::uint64_t address = qp.context.sq_base + std::uint64_t{send.fetch.slot} * stride;
  send.fetch.advance(count, qp.context.sq_size);
  core_.dma.read(address, buffer.bytes.data(), count * stride, *this,
                 std::bit_cast<std::uint64_t>(&buffer));
}

void WqeFetch::on_dma_read(std::uint64_t token, bool error) {
  FetchBuffer& buffer = *std::bit_cast<FetchBuffer*>(token);
  QueuePair* qp = core_.qp(buffer.qpn);
  if (qp != nullptr) --qp->send.fetches;
  if (buffer.void_ || qp == nullptr) {
    counters_.discarded += buffer.count;
    buffers_.release(buffer);
    return;
  }
  if (error) return core_.qp_control->fail(*qp, hw::WcStatus::kLocQpOpErr);
  buffer.arrived = true;
  buffer.arrival = now();
  if (qp->send.buffers.first == &buffer) set_front(qp->send);
  core_.scheduler->activate(*qp);
}

// The front WQE is the first of the first buffer.
inline void WqeFetch::set_front(SendState& send) {
  send.front = nullptr;
  if (send.buffers.empty()) return;
  const FetchBuffer& buffer = *send.buffers.first;
  if (!buffer.arrived) return;
  send.front = buffer.bytes.data();
  send.front_arrival = buffer.arrival;
}

void WqeFetch::pop(QueuePair& qp) {
  SendState& send = qp.send;
  FetchBuffer& buffer = *send.buffers.first;
  if (++buffer.first == buffer.count) {
    buffers_.release(send.buffers.pop_front());
    set_front(send);
  } else {
    send.front += qp.context.sq_stride;
  }
  send.send.advance(1, qp.context.sq_size);
  request(qp);
}

void WqeFetch::restart(QueuePair& qp) {
  SendState& send = qp.send;
  while (!send.buffers.empty()) {
    FetchBuffer& buffer = send.buffers.pop_front();
    if (buffer.arrived) {
      counters_.discarded += static_cast<std::uint64_t>(buffer.count - buffer.first);
      buffers_.release(buffer);
    } else {
      buffer.void_ = true;
    }
  }
  send.front = nullptr;
  send.fetch = send.send;
}

}  // namespace hcasim::hca
