// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Resizing a shared receive queue under traffic: the adapter pauses, what is posted moves to the
// new ring, the adapter goes on there. Posts meanwhile are stored; their doorbell comes at the end.
#include <algorithm>
#include <array>
#include <cerrno>

#include "driver/command.hpp"
#include "driver/qp_internal.hpp"
#include "driver/srq_internal.hpp"
#include "hcasim/hw/commands.hpp"
#include "hcasim/hw/receive_queue_ports.hpp"

namespace hcasim::rvt {
namespace {

struct Before {
  std::uint32_t size;
  std::uint32_t limit;
};

int pause(rvt_srq* srq, std::uint32_t* tail) {
  hw::SrqContext answer;
  const int error = srq->rdi->commands->fetch_in_turn(
      {.opcode = hw::CommandOpcode::kModifySrq, .object = srq->srqn, .mask = hw::kSrqPause},
      answer);
  if (error == 0) *tail = answer.tail;
  return error;
}

int resume(rvt_srq* srq, std::uint32_t head, std::uint32_t mask) {
  hw::SrqContext context = rvt_srq_context(srq);
  context.head = head;
  context.tail = srq->rq.tail;
  return srq->rdi->commands->send_in_turn(
      {.opcode = hw::CommandOpcode::kModifySrq, .object = srq->srqn, .mask = mask}, context);
}

void copy_slots(hw::HostPort& port, const rvt_rq& from, rvt_rq& to) {
  std::array<std::uint8_t, hw::rq::kMaxStride> slot;
  for (std::uint32_t i = from.tail; i != from.head; i = rvt_next_slot(i, from.size)) {
    port.read(from.wq + std::uint64_t{i} * from.stride, slot.data(), from.stride);
    port.write(to.wq + std::uint64_t{to.head} * to.stride, slot.data(), to.stride);
    ++to.head;
  }
}

// Moves what is posted to the ring `wq`, and leaves the address of the old one there.
// @return 0; -EINVAL it does not fit
int move(rvt_srq* srq, std::uint32_t tail, std::uint32_t size, std::uint64_t* wq) {
  rvt_rq& rq = srq->rq;
  const SpinGuard guard(rq.p_lock);
  rq.tail = tail;
  if (rvt_slots_between(tail, rq.head, rq.size) >= size) return -EINVAL;
  rvt_rq larger = rq;
  larger.wq = *wq;
  larger.size = size;
  larger.head = larger.tail = 0;
  copy_slots(*srq->rdi->port, rq, larger);
  *wq = rq.wq;
  rq.wq = larger.wq;
  rq.size = size;
  rq.head = larger.head;
  rq.tail = 0;
  return 0;
}

// Doorbells again, and one for what was posted meanwhile.
void go_on(rvt_srq* srq, std::uint32_t head_told) {
  srq->paused = false;
  if (srq->rq.head != head_told) rvt_ring_srq(srq);
}

// The adapter does not want the new ring: back to the old one, whose address is at `wq`. One that
// does not go on there either leaves the queue without a use.
void go_back(rvt_srq* srq, const Before& before, std::uint64_t* wq) {
  srq->limit = before.limit;
  const int lost = move(srq, srq->rq.tail, before.size, wq);
  const int error = lost == 0 ? resume(srq, srq->rq.head, hw::kSrqRing) : lost;
  srq->rdi->commands->check_destroyed(error);
}

// With the adapter paused and nobody else's command between. The tail in the record is that of the
// old ring until the adapter goes on, so it is not looked at.
int change_ring(rvt_srq* srq, std::uint32_t size, const std::uint32_t* limit, std::uint64_t* wq) {
  std::uint32_t told = srq->rq.head;
  std::uint32_t tail = 0;
  int error = pause(srq, &tail);
  if (error != 0) {
    go_on(srq, told);
    return error;
  }
  srq->rq.on_adapter = false;
  const Before before{srq->rq.size, srq->limit};
  error = move(srq, tail, size, wq);
  const bool arms = error == 0 && limit != nullptr;
  if (arms) {
    srq->limit = *limit;
    ++srq->arm;
  }
  told = srq->rq.head;
  const int refused = resume(srq, told, arms ? hw::kSrqRing | hw::kSrqLimit : hw::kSrqRing);
  if (refused != 0) {
    error == 0 ? go_back(srq, before, wq) : srq->rdi->commands->check_destroyed(refused);
  }
  srq->rq.on_adapter = true;
  go_on(srq, told);
  return error != 0 ? error : refused;
}

}  // namespace

int rvt_resize_srq(rvt_srq* srq, std::uint32_t max_wr, const std::uint32_t* limit) {
  rvt_dev_info* rdi = srq->rdi;
  const std::uint32_t effective = limit != nullptr ? *limit : srq->limit;
  if (max_wr > static_cast<std::uint32_t>(rdi->ibdev.attrs.max_srq_wr) || effective > max_wr) {
    return -EINVAL;
  }
  if (!rdi->port->may_wait()) return -EDEADLK;
  const std::uint32_t size = max_wr + 1;
  const std::uint32_t stride = srq->rq.stride;
  std::uint64_t wq =
      rdi->port->allocate(std::uint64_t{size} * stride, std::max(stride, hw::kDmaAlignment));
  if (wq == 0) return -ENOMEM;
  int error = 0;
  {
    const MutexGuard turn(rdi->commands->turn(), *rdi->port);
    srq->paused = true;
    error = change_ring(srq, size, limit, &wq);
  }
  rdi->port->release(wq);  // the old one, or the new one that is not needed
  return error;
}

}  // namespace hcasim::rvt
