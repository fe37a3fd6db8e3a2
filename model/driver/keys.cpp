// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Protection domains, and keys of memory regions.
#include <algorithm>
#include <cerrno>

#include "driver/no_memory.hpp"
#include "driver/trace.hpp"
#include "hcasim/rvt/rdma_vt.hpp"

namespace hcasim::rvt {

int rvt_alloc_pd(ib_pd* ibpd, ib_udata* udata) {
  rvt_dev_info* rdi = ib_to_rvt(ibpd->device);
  if (rdi->n_pds_allocated == static_cast<int>(rdi->dparms.max_pd)) return -ENOMEM;
  const auto number = static_cast<std::uint32_t>(
      std::find(rdi->pds.begin(), rdi->pds.end(), false) - rdi->pds.begin());
  if (number == rdi->pds.size()) {
    const int error = or_no_memory([&] { rdi->pds.push_back(false); });
    if (error != 0) return error;
  }
  rvt_pd* pd = ibpd_to_rvtpd(ibpd);
  pd->number = number;
  pd->user = udata != nullptr;
  rdi->pds[number] = true;
  ++rdi->n_pds_allocated;
  return 0;
}

int rvt_dealloc_pd(ib_pd* ibpd, ib_udata* /*udata*/) {
  rvt_dev_info* rdi = ib_to_rvt(ibpd->device);
  rdi->pds[ibpd_to_rvtpd(ibpd)->number] = false;
  --rdi->n_pds_allocated;
  return 0;
}

int rvt_driver_mr_init(rvt_dev_info* rdi) {
  constexpr std::uint32_t kMaxBits = 23;
  const std::uint32_t bits = rdi->dparms.lkey_table_size;
  if (bits < 1 || bits > kMaxBits) return -EINVAL;
  rdi->lkey_table.bits = bits;
  rdi->lkey_table.next = 0;
  rdi->lkey_table.gen = 0;
  return or_no_memory([&] { rdi->lkey_table.table.assign(std::size_t{1} << bits, nullptr); });
}

int rvt_alloc_lkey(rvt_lkey_table* table, rvt_mregion* mr) {
  const SpinGuard guard(table->lock);
  const auto size = static_cast<std::uint32_t>(table->table.size());
  std::uint32_t index = table->next;
  while (table->table[index] != nullptr) {
    index = (index + 1) & (size - 1);
    if (index == table->next) return -ENOMEM;
  }
  table->next = (index + 1) & (size - 1);
  const std::uint32_t generation = ++table->gen & ((1u << (24 - table->bits)) - 1);
  constexpr std::uint32_t kFirstKey = 0x100;  // key 0 is reserved
  const std::uint32_t key = index << (32 - table->bits) | generation << 8;
  mr->lkey = key != 0 ? key : kFirstKey;
  mr->hw_key = mr->lkey;
  if (key == 0) ++table->gen;
  table->table[index] = mr;
  mr->lkey_published = true;
  return 0;
}

void rvt_free_lkey(rvt_lkey_table* table, rvt_mregion* mr) {
  const SpinGuard guard(table->lock);
  mr->lkey_published = false;
  table->table[mr->lkey >> (32 - table->bits)] = nullptr;
}

rvt_mregion* rvt_find_slot(const rvt_lkey_table* table, std::uint32_t lkey) {
  rvt_mregion* mr = table->table[lkey >> (32 - table->bits)];
  return mr != nullptr && rvt_same_key_slot(mr->lkey, lkey) ? mr : nullptr;
}

const rvt_mregion* rvt_find_region(const rvt_lkey_table* table, std::uint32_t lkey) {
  if (lkey == 0) return nullptr;
  const rvt_mregion* mr = rvt_find_slot(table, lkey);
  return mr != nullptr && mr->lkey_published && mr->lkey == lkey ? mr : nullptr;
}

namespace {

// By subtraction, so that no address and length can wrap around.
bool inside(const rvt_mregion* mr, std::uint64_t addr, std::uint64_t length) {
  return addr >= mr->iova && addr - mr->iova <= mr->length &&
         length <= mr->length - (addr - mr->iova);
}

bool merge(rvt_sge* last, const ib_sge* sge) {
  if (last == nullptr || last->lkey != sge->lkey) return false;
  if (last->addr + last->length != sge->addr) return false;
  if (std::uint64_t{last->length} + sge->length > RVT_MAX_MESSAGE) return false;
  if (!inside(last->mr, sge->addr, sge->length)) return false;
  last->length += sge->length;
  return true;
}

}  // namespace

int rvt_lkey_ok(const rvt_lkey_table* table, const rvt_pd* pd, rvt_sge* isge, rvt_sge* last_sge,
                const ib_sge* sge, std::uint32_t acc) {
  if (merge(last_sge, sge)) {
    trace_sge_adjacent(pd, last_sge, sge);
    return 0;
  }
  const rvt_mregion* mr = rvt_find_region(table, sge->lkey);
  if (mr == nullptr || mr->lkey_invalid || mr->pd != &pd->ibpd) return -EINVAL;
  if (!inside(mr, sge->addr, sge->length) || (mr->access_flags & acc) != acc) return -EINVAL;
  *isge = {mr, sge->addr, sge->length, sge->lkey};
  trace_sge_new(pd, isge, sge);
  return 1;
}

int rvt_rkey_ok(rvt_qp* qp, rvt_sge* sge, std::uint32_t len, std::uint64_t vaddr,
                std::uint32_t rkey, std::uint32_t acc) {
  const rvt_mregion* mr = rvt_find_region(&qp->rdi->lkey_table, rkey);
  if (mr == nullptr || mr->lkey_invalid || mr->pd != qp->ibqp.pd) return 0;
  if (!inside(mr, vaddr, len) || (mr->access_flags & acc) == 0) return 0;
  *sge = {mr, vaddr, len, rkey};
  return 1;
}

}  // namespace hcasim::rvt
