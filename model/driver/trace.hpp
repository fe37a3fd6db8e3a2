// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Tracepoints as one-line calls: nothing but a branch where nobody listens.
#pragma once

#include "driver/qp_internal.hpp"
#include "hcasim/rvt/rdma_vt.hpp"
#include "hcasim/rvt/trace_sink.hpp"

namespace hcasim::rvt {

inline void trace_dbg(const rvt_dev_info* rdi, const char* msg) {
  if (rdi->trace != nullptr) [[unlikely]]
    rdi->trace->dbg(msg);
}
inline void trace_qpinsert(const rvt_qp* qp, std::uint32_t bucket) {
  if (qp->rdi->trace != nullptr) [[unlikely]]
    qp->rdi->trace->qpinsert(*qp, bucket);
}
inline void trace_qpremove(const rvt_qp* qp, std::uint32_t bucket) {
  if (qp->rdi->trace != nullptr) [[unlikely]]
    qp->rdi->trace->qpremove(*qp, bucket);
}
inline void trace_rnrnak_add(const rvt_qp* qp, std::uint32_t timeout) {
  if (qp->rdi->trace != nullptr) [[unlikely]]
    qp->rdi->trace->rnrnak_add(*qp, timeout);
}
inline void trace_rnrnak_stop(const rvt_qp* qp) {
  if (qp->rdi->trace != nullptr) [[unlikely]]
    qp->rdi->trace->rnrnak_stop(*qp);
}
inline void trace_rnrnak_timeout(const rvt_qp* qp) {
  if (qp->rdi->trace != nullptr) [[unlikely]]
    qp->rdi->trace->rnrnak_timeout(*qp);
}
inline void trace_post_one_wr(const rvt_qp* qp, std::uint32_t slot, int wr_num_sge) {
  if (qp->rdi->trace != nullptr) [[unlikely]]
    qp->rdi->trace->post_one_wr(*qp, slot, wr_num_sge);
}
/// All sends from s_last up to, not including, the slot `end`.
inline void trace_send_completions(const rvt_qp* qp, std::uint32_t end) {
  if (qp->rdi->trace == nullptr) [[likely]]
    return;
  std::uint32_t slot = qp->s_last;
  do {
    qp->rdi->trace->qp_send_completion(*qp, slot);
    slot = rvt_next_slot(slot, qp->s_size);
  } while (slot != end);
}
inline void trace_create_cq(const rvt_cq* cq, const ib_cq_init_attr* attr) {
  if (cq->rdi->trace != nullptr) [[unlikely]]
    cq->rdi->trace->create_cq(*cq, *attr);
}
inline void trace_cq_enter(const rvt_cq* cq, const ib_wc& wc) {
  if (cq->rdi->trace != nullptr) [[unlikely]]
    cq->rdi->trace->cq_enter(*cq, wc);
}
inline void trace_cq_poll(const rvt_cq* cq, const ib_wc* wc, int count) {
  if (cq->rdi->trace == nullptr) [[likely]]
    return;
  for (int idx = 0; idx < count; ++idx) cq->rdi->trace->cq_poll(*cq, wc[idx], idx);
}
inline void trace_mr_user_seg(const rvt_dev_info* rdi, const rvt_mregion& mr) {
  if (rdi->trace != nullptr) [[unlikely]]
    rdi->trace->mr_user_seg(mr, {0, mr.mapsz, mr.user_base - rvt_mr_first_offset(mr)});
}
inline void trace_mr_page_seg(const rvt_dev_info* rdi, const rvt_mregion& mr,
                              const rvt_segments& segments) {
  if (rdi->trace != nullptr) [[unlikely]]
    rdi->trace->mr_page_seg(mr, segments);
}
inline void trace_sge_new(const rvt_pd* pd, const rvt_sge* sge, const ib_sge* isge) {
  TraceSink* const sink = ib_to_rvt(pd->ibpd.device)->trace;
  if (sink != nullptr) [[unlikely]]
    sink->sge_new(*sge, *isge);
}
inline void trace_sge_adjacent(const rvt_pd* pd, const rvt_sge* last, const ib_sge* isge) {
  TraceSink* const sink = ib_to_rvt(pd->ibpd.device)->trace;
  if (sink != nullptr) [[unlikely]]
    sink->sge_adjacent(*last, *isge);
}
inline void trace_map_mr_sg(const rvt_dev_info* rdi, const ib_mr* mr, int nents,
                            const unsigned* offset) {
  if (rdi->trace != nullptr) [[unlikely]]
    rdi->trace->map_mr_sg(*mr, nents, offset != nullptr ? *offset : 0);
}

}  // namespace hcasim::rvt
