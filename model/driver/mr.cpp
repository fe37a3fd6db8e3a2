// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Registering and deregistering memory.
#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "driver/command.hpp"
#include "driver/mr_internal.hpp"
#include "driver/no_memory.hpp"
#include "driver/trace.hpp"
#include "hcasim/hw/contexts.hpp"
#include "hcasim/rvt/err_ptr.hpp"
#include "hcasim/rvt/rdma_vt.hpp"

namespace hcasim::rvt {
namespace {

hw::MptEntry protection_entry(const rvt_mregion& mr) {
  hw::MptEntry entry{};
  entry.key = mr.lkey;
  entry.pd = ibpd_to_rvtpd(mr.pd)->number;
  entry.access = mr.access_flags & kAdapterAccess;
  entry.page_shift = mr.page_shift;
  entry.valid = mr.fast_register ? 0 : 1;
  entry.invalidatable = mr.fast_register ? 1 : 0;
  entry.iova = mr.iova;
  entry.length = mr.length;
  entry.mtt = mr.mtt;
  entry.mtt_entries = mr.fast_register ? mr.max_segs : mr.mapsz;
  entry.first_offset = rvt_mr_first_offset(mr);
  return entry;
}

int map_pages(rvt_dev_info* rdi, rvt_mregion& mr) {
  const std::uint64_t pages = (rvt_mr_first_offset(mr) + mr.length - 1) / rvt_mr_page_bytes(mr) + 1;
  if (pages > UINT32_MAX) return -EINVAL;
  mr.mapsz = static_cast<std::uint32_t>(pages);
  mr.mtt = rdi->port->allocate(pages * sizeof(hw::MttEntry), hw::kDmaAlignment);
  if (mr.mtt == 0) return -ENOMEM;
  rvt_write_translation(*rdi->port, mr.mtt, mr.user_base - rvt_mr_first_offset(mr),
                        rvt_mr_page_bytes(mr), mr.mapsz);
  return 0;
}

int register_region(rvt_dev_info* rdi, rvt_mregion& mr) {
  int error = map_pages(rdi, mr);
  if (error != 0) return error;
  error = rvt_create_region(rdi, mr);
  if (error != 0) rdi->port->release(mr.mtt);
  return error;
}

bool wraps(std::uint64_t first, std::uint64_t length) {
  return first + (length - 1) < first;
}

struct Clean {
  ib_pd* pd;
  std::uint32_t lkey;
};

void clean_qp(rvt_qp* qp, std::uint64_t v) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel's signature
  const auto* clean = reinterpret_cast<const Clean*>(v);
  if (qp->ibqp.pd == clean->pd) rvt_qp_mr_clean(qp, clean->lkey);
}

int destroy_on_adapter(rvt_dev_info* rdi, std::uint32_t key) {
  return rdi->commands->send({.opcode = hw::CommandOpcode::kDestroyMr,
                              .object = key,
                              .timeout = rdi->dparms.dereg_timeout});
}

// A queue pair that was reset may have taken the outcome of REG_MRs with it. The adapter then has
// the region under another of its 256 keys.
int destroy_under_any_key(rvt_dev_info* rdi, const rvt_mregion& mr) {
  int error = destroy_on_adapter(rdi, mr.lkey);
  if (!mr.fast_register) return error;
  if (error == -EINVAL) error = destroy_on_adapter(rdi, mr.hw_key);
  for (std::uint32_t own = 0; error == -EINVAL && own <= 0xff; ++own)
    error = destroy_on_adapter(rdi, (mr.lkey & ~0xffu) | own);
  return error;
}

}  // namespace

void rvt_write_translation(hw::HostPort& port, std::uint64_t mtt, std::uint64_t page,
                           std::uint64_t page_bytes, std::uint32_t count) {
  std::array<hw::MttEntry, 64> chunk;
  for (std::uint32_t done = 0; done < count;) {
    const auto some = std::min<std::uint32_t>(chunk.size(), count - done);
    for (std::uint32_t i = 0; i < some; ++i, page += page_bytes) chunk[i].address = page;
    port.write(mtt + std::uint64_t{done} * sizeof(hw::MttEntry), chunk.data(),
               some * sizeof(hw::MttEntry));
    done += some;
  }
}

int rvt_create_region(rvt_dev_info* rdi, rvt_mregion& mr) {
  const int error = rvt_alloc_lkey(&rdi->lkey_table, &mr);
  if (error != 0) return error;
  const int refused = rdi->commands->send(
      {.opcode = hw::CommandOpcode::kCreateMr, .object = mr.lkey}, protection_entry(mr));
  if (refused != 0) rvt_free_lkey(&rdi->lkey_table, &mr);
  return refused;
}

ib_mr* rvt_reg_user_mr(ib_pd* pd, std::uint64_t start, std::uint64_t length,
                       std::uint64_t virt_addr, std::uint32_t access, ib_udata* /*udata*/) {
  if (length == 0 || wraps(start, length) || wraps(virt_addr, length))
    return ERR_PTR<ib_mr>(-EINVAL);
  rvt_dev_info* rdi = ib_to_rvt(pd->device);
  auto mr = try_to_make<rvt_mr>();
  if (!mr) return ERR_PTR<ib_mr>(-ENOMEM);
  mr->mr.pd = pd;
  mr->mr.user_base = start;
  mr->mr.iova = virt_addr;
  mr->mr.length = length;
  mr->mr.access_flags = access;
  mr->mr.page_shift = static_cast<std::uint8_t>(rdi->dparms.page_shift);
  const int error = register_region(rdi, mr->mr);
  if (error != 0) return ERR_PTR<ib_mr>(error);
  trace_mr_user_seg(rdi, mr->mr);
  mr->ibmr = {pd->device, pd, mr->mr.lkey, mr->mr.lkey, virt_addr, length};
  ++rdi->n_mrs_allocated;
  return &mr.release()->ibmr;
}

int rvt_dereg_mr(ib_mr* ibmr, ib_udata* /*udata*/) {
  rvt_mr* mr = to_imr(ibmr);
  rvt_dev_info* rdi = ib_to_rvt(ibmr->device);
  mr->mr.lkey_published = false;
  Clean clean{mr->mr.pd, mr->mr.lkey};
  rvt_qp_iter(rdi, reinterpret_cast<std::uint64_t>(&clean), clean_qp);
  // An adapter that had failed or stopped before uses nothing any more; one that fails now may.
  const bool could_answer = rdi->commands->usable();
  const int error = destroy_under_any_key(rdi, mr->mr);
  if ((error == -EIO && could_answer) || error == -EDEADLK) return -EBUSY;
  rdi->commands->check_destroyed(error);
  rvt_free_lkey(&rdi->lkey_table, &mr->mr);
  rdi->port->release(mr->mr.mtt);
  --rdi->n_mrs_allocated;
  delete mr;
  return 0;
}

}  // namespace hcasim::rvt
