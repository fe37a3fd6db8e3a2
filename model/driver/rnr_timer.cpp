// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Waiting after an RNR NAK.
#include <array>
#include <utility>

#include "driver/loopback_internal.hpp"
#include "driver/trace.hpp"

namespace hcasim::rvt {
namespace {

// InfiniBand specification, encoding of the RNR NAK timer field; microseconds.
constexpr std::array<std::uint32_t, 32> ib_rvt_rnr_table = {
    655360, 10,    20,    30,    40,    60,     80,     120,    160,    240,   320,
    480,    640,   960,   1280,  1920,  2560,   3840,   5120,   7680,   10240, 15360,
    20480,  30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520};

void cancel(rvt_qp* qp) {
  const std::uint64_t timer = std::exchange(qp->s_rnr_timer, 0);
  if (timer != 0) qp->rdi->port->cancel_timer(timer);
}

void fired(void* device, std::uint64_t qpn) {
  rvt_qp* qp = rvt_find_qp(static_cast<rvt_dev_info*>(device), static_cast<std::uint32_t>(qpn));
  if (qp == nullptr) return;
  qp->s_rnr_timer = 0;
  rvt_rc_rnr_retry(qp);
}

}  // namespace

std::uint32_t rvt_rnr_tbl_to_usec(std::uint32_t index) {
  return ib_rvt_rnr_table[index % ib_rvt_rnr_table.size()];
}

void rvt_add_rnr_timer(rvt_qp* qp, std::uint32_t aeth) {
  qp->s_flags |= RVT_S_WAIT_RNR;
  cancel(qp);
  hw::HostPort& port = *qp->rdi->port;
  const std::uint32_t timeout = rvt_rnr_tbl_to_usec(aeth >> RVT_AETH_CREDIT_SHIFT);
  const hw::Time wait = timeout * hw::kMicrosecond;
  trace_rnrnak_add(qp, timeout);
  qp->s_rnr_timer = port.start_timer(port.now() + wait, {fired, qp->rdi, qp->ibqp.qp_num});
}

void rvt_stop_rnr_timer(rvt_qp* qp) {
  if ((qp->s_flags & RVT_S_WAIT_RNR) == 0) return;
  qp->s_flags &= ~RVT_S_WAIT_RNR;
  trace_rnrnak_stop(qp);
}

hrtimer_restart rvt_rc_rnr_retry(rvt_qp* qp) {
  const SpinGuard send(qp->s_lock);
  rvt_stop_rnr_timer(qp);
  trace_rnrnak_timeout(qp);
  qp->rdi->driver_f.schedule_send(qp);
  return HRTIMER_NORESTART;
}

void rvt_stop_rc_timers(rvt_qp* qp) {
  if ((qp->s_flags & (RVT_S_TIMER | RVT_S_WAIT_RNR)) == 0) return;
  qp->s_flags &= ~(RVT_S_TIMER | RVT_S_WAIT_RNR);
  cancel(qp);
}

void rvt_del_timers_sync(rvt_qp* qp) {
  cancel(qp);
}

}  // namespace hcasim::rvt
