// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Fast-register regions: made without memory, mapped by the CPU, registered and invalidated by work
// requests.
#include <algorithm>
#include <cerrno>
#include <memory>

#include "driver/mr_internal.hpp"
#include "driver/no_memory.hpp"
#include "driver/qp_internal.hpp"
#include "driver/trace.hpp"
#include "hcasim/hw/contexts.hpp"
#include "hcasim/rvt/err_ptr.hpp"

namespace hcasim::rvt {
namespace {

int make_region(rvt_dev_info* rdi, rvt_mregion& mr) {
  mr.mtt =
      rdi->port->allocate(std::uint64_t{mr.max_segs} * sizeof(hw::MttEntry), hw::kDmaAlignment);
  if (mr.mtt == 0) return -ENOMEM;
  rvt_write_translation(*rdi->port, mr.mtt, 0, 0, mr.max_segs);
  const int error = rvt_create_region(rdi, mr);
  if (error != 0) rdi->port->release(mr.mtt);
  return error;
}

/// Maps one element after the other into the table of a region.
class Mapping {
 public:
  Mapping(const rvt_dev_info* rdi, rvt_mregion& mr)
      : rdi_(rdi), mr_(mr), page_(rvt_mr_page_bytes(mr)) {
    mr.mapsz = 0;
  }

  /// @return bytes mapped: fewer than asked when the table is full
  std::uint64_t add(std::uint64_t first, std::uint64_t bytes) {
    const bool begins = mr_.mapsz == 0;
    if (begins) mr_.user_base = end_ = first;
    const bool joined = !begins && first == end_;
    if (!begins && !joined && (first % page_ != 0 || end_ % page_ != 0)) return 0;
    const std::uint64_t page = joined ? (first + page_ - 1) / page_ * page_ : first / page_ * page_;
    const std::uint64_t last = first + bytes;
    const std::uint64_t wanted = last > page ? (last - page - 1) / page_ + 1 : 0;
    const auto count =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, mr_.max_segs - mr_.mapsz));
    rvt_write_translation(*rdi_->port, mr_.mtt + std::uint64_t{mr_.mapsz} * sizeof(hw::MttEntry),
                          page, page_, count);
    trace_mr_page_seg(rdi_, mr_, {mr_.mapsz, count, page});
    mr_.mapsz += count;
    end_ = count == wanted ? last : page + count * page_;
    length_ += end_ - first;
    return end_ - first;
  }

  std::uint64_t length() const { return length_; }

 private:
  const rvt_dev_info* rdi_;
  rvt_mregion& mr_;
  std::uint64_t page_;  // bytes
  std::uint64_t end_ = 0;
  std::uint64_t length_ = 0;
};

}  // namespace

ib_mr* rvt_alloc_mr(ib_pd* pd, ib_mr_type mr_type, std::uint32_t max_num_sg) {
  rvt_dev_info* rdi = ib_to_rvt(pd->device);
  const auto limit = static_cast<std::uint32_t>(rdi->ibdev.attrs.max_fast_reg_page_list_len);
  if (mr_type != IB_MR_TYPE_MEM_REG || max_num_sg == 0 || max_num_sg > limit)
    return ERR_PTR<ib_mr>(-EINVAL);
  auto mr = try_to_make<rvt_mr>();
  if (!mr) return ERR_PTR<ib_mr>(-ENOMEM);
  mr->mr.pd = pd;
  mr->mr.page_shift = static_cast<std::uint8_t>(rdi->dparms.page_shift);
  mr->mr.fast_register = true;
  mr->mr.lkey_invalid = true;
  mr->mr.max_segs = max_num_sg;
  const int error = make_region(rdi, mr->mr);
  if (error != 0) return ERR_PTR<ib_mr>(error);
  mr->ibmr = {pd->device, pd, mr->mr.lkey, mr->mr.lkey, 0, 0};
  ++rdi->n_mrs_allocated;
  return &mr.release()->ibmr;
}

int rvt_map_mr_sg(ib_mr* ibmr, const scatterlist* sg, int sg_nents, unsigned* sg_offset,
                  unsigned page_size) {
  rvt_mregion& mr = to_imr(ibmr)->mr;
  std::uint64_t skipped = sg_offset != nullptr ? *sg_offset : 0;
  if (!mr.fast_register || page_size != rvt_mr_page_bytes(mr) || sg_nents <= 0) return -EINVAL;
  if (skipped >= sg[0].length) return -EINVAL;
  Mapping mapping(ib_to_rvt(ibmr->device), mr);
  int mapped = 0;
  for (; mapped < sg_nents; ++mapped, skipped = 0) {
    const std::uint64_t bytes = sg[mapped].length - skipped;
    const std::uint64_t taken = mapping.add(sg[mapped].dma_address + skipped, bytes);
    if (taken == bytes) continue;
    skipped += taken;
    break;
  }
  if (sg_offset != nullptr) *sg_offset = static_cast<unsigned>(skipped);
  ibmr->iova = mr.user_base;
  ibmr->length = mapping.length();
  trace_map_mr_sg(ib_to_rvt(ibmr->device), ibmr, sg_nents, sg_offset);
  return mapped;
}

int rvt_fast_reg_mr(rvt_qp* qp, ib_mr* ibmr, std::uint32_t key, std::uint32_t access) {
  if (ibmr == nullptr) return -EINVAL;
  if (ibmr->pd != qp->ibqp.pd) return -EACCES;
  rvt_mregion& mr = to_imr(ibmr)->mr;
  if (!mr.fast_register || !rvt_same_key_slot(key, mr.lkey)) return -EINVAL;
  if (ibmr->length > UINT32_MAX) return -EINVAL;
  mr.lkey = ibmr->lkey = ibmr->rkey = key;
  mr.access_flags = access;
  mr.iova = ibmr->iova;
  mr.length = ibmr->length;
  mr.lkey_invalid = false;
  return 0;
}

namespace {

// The region that a queue pair may invalidate by this key, or null.
rvt_mregion* invalidatable(const rvt_qp* qp, std::uint32_t rkey) {
  rvt_mregion* mr = rvt_find_slot(&qp->rdi->lkey_table, rkey);
  const bool may = mr != nullptr && mr->lkey_published && mr->lkey == rkey && mr->fast_register &&
                   mr->pd == qp->ibqp.pd;
  return may ? mr : nullptr;
}

}  // namespace

int rvt_invalidate_rkey(rvt_qp* qp, std::uint32_t rkey) {
  rvt_mregion* mr = invalidatable(qp, rkey);
  if (mr == nullptr) return -EINVAL;
  mr->lkey_invalid = true;
  return 0;
}

void rvt_peer_invalidated(const rvt_qp* qp, std::uint32_t rkey) {
  rvt_mregion* mr = invalidatable(qp, rkey);
  if (mr != nullptr) mr->lkey_invalid = true;
}

namespace {

void end_registration(rvt_qp* qp, std::uint32_t slot, bool done) {
  const rvt_swqe& wqe = qp->s_wq[slot];
  if (wqe.opcode != IB_WR_REG_MR) return;
  --qp->s_reg_used;
  rvt_mregion* mr = rvt_find_slot(&qp->rdi->lkey_table, wqe.key);
  if (mr == nullptr) return;  // deregistered meanwhile
  --mr->reg_posts;
  if (done) mr->hw_key = wqe.key;
}

}  // namespace

void rvt_retire_registrations(rvt_qp* qp, std::uint32_t end, bool succeeded) {
  for (std::uint32_t slot = qp->s_last; slot != end;) {
    const std::uint32_t next = rvt_next_slot(slot, qp->s_size);
    end_registration(qp, slot, next != end || succeeded);
    slot = next;
  }
}

void rvt_forget_registrations(rvt_qp* qp) {
  for (std::uint32_t slot = qp->s_last; qp->s_reg_used != 0 && slot != qp->s_head;
       slot = rvt_next_slot(slot, qp->s_size)) {
    end_registration(qp, slot, !qp->looped);  // the adapter has not heard of those
  }
}

}  // namespace hcasim::rvt
