// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/ftrace/driver_events.hpp"

#include "hcasim/rvt/rdma_vt.hpp"

namespace hcasim::sim::ftrace {
namespace {

constexpr std::uint32_t kWaitRnr = 0x80;
constexpr std::uint32_t kTimer = 0x4;
constexpr std::uint32_t kUnlimitedCredit = 0x2'0000;
// Segments of a block: what fits into a page of the kernel.
constexpr std::uint32_t kBlock = 4096 / 16;

// The last step of splitmix64: each bit of the result depends on each of the argument.
std::uint64_t mix(std::uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58'476d'1ce4'e5b9;
  value = (value ^ value >> 27) * 0x94d0'49bb'1331'11eb;
  return value ^ value >> 31;
}

// Where an address is in its region's translation table.
std::uint64_t offset_in_pages(const rvt::rvt_mregion& mr, std::uint64_t address) {
  return address - mr.iova + rvt::rvt_mr_first_offset(mr);
}

}  // namespace

std::uint64_t DriverEvents::stand_in(Object kind, std::uint64_t number, std::uint64_t part) const {
  const std::uint64_t owner = std::uint64_t{node_} << 8 | static_cast<std::uint64_t>(kind);
  const std::uint64_t value = mix(mix(mix(owner + 1) ^ number) + part) & 0xffff'ffff;
  return value != 0 ? value : 1;
}

hw::Time DriverEvents::now() const {
  return device_.port->now();
}

void DriverEvents::emit_at(hw::Time at, EventKind kind, const Fields& fields) {
  emit(at, {kind, device_.ibdev.name, fields});
}
void DriverEvents::emit_now(EventKind kind, const Fields& fields) {
  emit_at(now(), kind, fields);
}

void DriverEvents::dbg(const char* msg) {
  emit_now(EventKind::kDebug, Debug{msg});
}

// --- Queue pairs
// ----------------------------------------------------------------------------------

void DriverEvents::qpinsert(const rvt::rvt_qp& qp, std::uint32_t bucket) {
  emit_now(EventKind::kQpInsert, QpHash{qp.ibqp.qp_num, bucket});
}
void DriverEvents::qpremove(const rvt::rvt_qp& qp, std::uint32_t bucket) {
  emit_now(EventKind::kQpRemove, QpHash{qp.ibqp.qp_num, bucket});
}

RnrNak DriverEvents::rnr_nak(const rvt::rvt_qp& qp, std::uint32_t to) const {
  return {qp.ibqp.qp_num, stand_in(Object::kTimer, qp.ibqp.qp_num), qp.s_flags, to};
}
void DriverEvents::rnrnak_add(const rvt::rvt_qp& qp, std::uint32_t timeout) {
  emit_now(EventKind::kRnrNakAdd, rnr_nak(qp, timeout));
}
void DriverEvents::rnrnak_stop(const rvt::rvt_qp& qp) {
  emit_now(EventKind::kRnrNakStop, rnr_nak(qp, 0));
}
void DriverEvents::rnrnak_timeout(const rvt::rvt_qp& qp) {
  emit_now(EventKind::kRnrNakTimeout, rnr_nak(qp, 0));
}

std::uint32_t DriverEvents::flags_of(const hca::RequesterPlace& place) const {
  const rvt::rvt_qp* const qp = rvt::rvt_find_qp(&device_, place.qpn);
  std::uint32_t flags = qp != nullptr ? qp->s_flags : 0;
  if (place.rnr_wait) flags |= kWaitRnr;
  if (place.timer) flags |= kTimer;
  if (place.unlimited_credit) flags |= kUnlimitedCredit;
  return flags;
}
RnrNak DriverEvents::rnr_nak(const hca::RequesterPlace& place, std::uint32_t to) const {
  return {place.qpn, stand_in(Object::kTimer, place.qpn), flags_of(place), to};
}
void DriverEvents::rnr_wait_began(const hca::RequesterPlace& place, hw::Time wait, hw::Time at) {
  const auto us = static_cast<std::uint32_t>(wait / hw::kMicrosecond);
  emit_at(at, EventKind::kRnrNakAdd, rnr_nak(place, us));
}
void DriverEvents::rnr_wait_over(const hca::RequesterPlace& place, hw::Time at) {
  emit_at(at, EventKind::kRnrNakStop, rnr_nak(place, 0));
  emit_at(at, EventKind::kRnrNakTimeout, rnr_nak(place, 0));
}

void DriverEvents::ack_timed_out(const hca::RequesterPlace& place, hw::Time at) {
  const rvt::rvt_qp* const qp = rvt::rvt_find_qp(&device_, place.qpn);
  RcTimeout fields;
  fields.qpn = place.qpn;
  fields.s_flags = flags_of(place);
  fields.psn = place.unacked_psn;
  fields.s_psn = place.next_psn;
  fields.s_next_psn = qp != nullptr ? qp->s_next_psn : place.next_psn;
  fields.s_sending_psn = place.next_psn;
  fields.s_sending_hpsn = (place.next_psn - 1) & 0xff'ffff;
  fields.r_psn = place.expected_psn;
  emit_at(at, EventKind::kRcTimeout, fields);
}

// --- Sends and completions
// ------------------------------------------------------------------------

void DriverEvents::post_one_wr(const rvt::rvt_qp& qp, std::uint32_t slot, int wr_num_sge) {
  const rvt::rvt_swqe& wqe = qp.s_wq[slot];
  PostOneWr fields;
  fields.wqe = stand_in(Object::kWqe, qp.ibqp.qp_num, slot);
  fields.wr_id = wqe.wr_id;
  fields.send_flags = wqe.send_flags;
  fields.qpn = qp.ibqp.qp_num;
  fields.qpt = qp.ibqp.qp_type;
  fields.psn = wqe.psn;
  fields.lpsn = wqe.lpsn;
  fields.ssn = wqe.ssn;
  fields.length = wqe.length;
  fields.opcode = wqe.opcode;
  fields.size = qp.s_size;
  fields.avail = qp.s_avail;
  fields.head = slot;
  fields.last = qp.s_last;
  fields.num_sge = wqe.num_sge;
  fields.wr_num_sge = wr_num_sge;
  emit_now(EventKind::kPostOneWr, fields);
}

void DriverEvents::qp_send_completion(const rvt::rvt_qp& qp, std::uint32_t slot) {
  const rvt::rvt_swqe& wqe = qp.s_wq[slot];
  SendCompletion fields;
  fields.qpn = qp.ibqp.qp_num;
  fields.qpt = qp.ibqp.qp_type;
  fields.wqe = stand_in(Object::kWqe, qp.ibqp.qp_num, slot);
  fields.idx = slot;
  fields.wr_id = wqe.wr_id;
  fields.length = wqe.length;
  fields.ssn = wqe.ssn;
  fields.opcode = wqe.opcode;
  fields.send_flags = wqe.send_flags;
  emit_now(EventKind::kSendCompletion, fields);
}

DriverEvents::Ring& DriverEvents::ring_of(const rvt::rvt_cq& cq) {
  if (cq.cqn >= rings_.size()) rings_.resize(cq.cqn + 1);
  return rings_[cq.cqn];
}

// In a resize rdmavt moves what waits to the start of the new ring.
DriverEvents::Ring& DriverEvents::present_ring_of(const rvt::rvt_cq& cq) {
  Ring& ring = ring_of(cq);
  if (ring.cqe != cq.ibcq.cqe) ring.next = static_cast<std::uint32_t>(ring.qpns.size());
  ring.cqe = cq.ibcq.cqe;
  return ring;
}

void DriverEvents::create_cq(const rvt::rvt_cq& cq, const rvt::ib_cq_init_attr& attr) {
  ring_of(cq) = {.cqe = cq.ibcq.cqe, .qpns = {}};
  emit_now(EventKind::kCreateCq, CreateCq{false, attr.cqe, attr.comp_vector,
                                          static_cast<std::int32_t>(node_), attr.flags});
}

CqEntry DriverEvents::entry_of(const rvt::ib_wc& wc) {
  CqEntry fields;
  fields.wr_id = wc.wr_id;
  fields.status = wc.status;
  fields.opcode = wc.opcode;
  fields.length = wc.byte_len;
  fields.flags = wc.wc_flags;
  fields.imm = rvt::be32_to_cpu(wc.ex.imm_data);
  return fields;
}

void DriverEvents::cq_enter(const rvt::rvt_cq& cq, const rvt::ib_wc& wc) {
  CqEntry fields = entry_of(wc);
  Ring& ring = present_ring_of(cq);
  fields.qpn = wc.qp->qp_num;
  ring.qpns.push_back(fields.qpn);
  // rdmavt has one ring for all completions, with a slot more than entries.
  fields.idx = ring.next;
  ring.next = ring.next == static_cast<std::uint32_t>(cq.ibcq.cqe) ? 0 : ring.next + 1;
  emit_now(EventKind::kCqEnter, fields);
}

void DriverEvents::cq_poll(const rvt::rvt_cq& cq, const rvt::ib_wc& wc, int idx) {
  CqEntry fields = entry_of(wc);
  // The queue pair may be gone by now.
  Ring& ring = present_ring_of(cq);
  if (!ring.qpns.empty()) {
    fields.qpn = ring.qpns.front();
    ring.qpns.pop_front();
  }
  fields.idx = static_cast<std::uint32_t>(idx);
  emit_now(EventKind::kCqPoll, fields);
}

// --- Memory
// ---------------------------------------------------------------------------------------

void DriverEvents::segments_of(EventKind kind, const rvt::rvt_mregion& mr,
                               const rvt::rvt_segments& segments) {
  MrSegment fields;
  fields.lkey = mr.lkey;
  fields.iova = mr.iova;
  fields.user_base = mr.user_base;
  fields.mr_len = mr.length;
  fields.len = std::uint64_t{1} << mr.page_shift;
  fields.off = rvt::rvt_mr_first_offset(mr);
  for (std::uint32_t i = 0; i < segments.count; ++i) {
    fields.vaddr = segments.page + i * fields.len;
    fields.page = stand_in(Object::kPage, fields.vaddr);
    fields.m = (segments.first + i) / kBlock;
    fields.n = (segments.first + i) % kBlock;
    emit_now(kind, fields);
  }
}
void DriverEvents::mr_user_seg(const rvt::rvt_mregion& mr, const rvt::rvt_segments& segments) {
  segments_of(EventKind::kMrUserSeg, mr, segments);
}
void DriverEvents::mr_page_seg(const rvt::rvt_mregion& mr, const rvt::rvt_segments& segments) {
  segments_of(EventKind::kMrPageSeg, mr, segments);
}

SgeCheck DriverEvents::check_of(const rvt::rvt_sge& sge, const rvt::ib_sge& isge) const {
  const rvt::rvt_mregion& mr = *sge.mr;
  const std::uint64_t page = std::uint64_t{1} << mr.page_shift;
  const std::uint64_t offset = offset_in_pages(mr, sge.addr);
  SgeCheck fields;
  fields.mr = stand_in(Object::kRegion, mr.lkey & ~0xffu);
  fields.sge = stand_in(Object::kSge, elements_);
  fields.isge = stand_in(Object::kPostedSge, posted_elements_);
  fields.vaddr = stand_in(Object::kAddress, mr.user_base + (sge.addr - mr.iova));
  fields.ivaddr = isge.addr;
  fields.lkey = isge.lkey;
  fields.sge_length = sge.length;
  fields.length = static_cast<std::uint32_t>(page - offset % page);
  fields.ilength = isge.length;
  fields.m = static_cast<std::int32_t>(offset / page / kBlock);
  fields.n = fields.m;
  fields.user = rvt::ibpd_to_rvtpd(mr.pd)->user ? 1 : 0;
  return fields;
}
void DriverEvents::sge_new(const rvt::rvt_sge& sge, const rvt::ib_sge& isge) {
  ++elements_;
  ++posted_elements_;
  emit_now(EventKind::kSgeNew, check_of(sge, isge));
}
void DriverEvents::sge_adjacent(const rvt::rvt_sge& last, const rvt::ib_sge& isge) {
  ++posted_elements_;
  emit_now(EventKind::kSgeAdjacent, check_of(last, isge));
}

void DriverEvents::map_mr_sg(const rvt::ib_mr& mr, int sg_nents, unsigned sg_offset) {
  const rvt::rvt_mregion& region =
      rvt::to_imr(const_cast<rvt::ib_mr*>(&mr))->mr;  // NOLINT: the kernel's helper
  emit_now(EventKind::kMapMrSg,
           MapMrSg{mr.iova, region.iova, region.user_base, mr.length, sg_nents, sg_offset});
}

}  // namespace hcasim::sim::ftrace
