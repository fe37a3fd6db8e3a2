// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Registering and deregistering memory.
#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "driver/command.hpp"
#include "hcasim/hw/contexts.hpp"
#include "hcasim/rvt/err_ptr.hpp"
#include "hcasim/rvt/rdma_vt.hpp"

namespace hcasim::rvt {
namespace {

constexpr std::uint32_t kAdapterAccess = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
                                         IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC;

std::uint64_t page_bytes(const rvt_mregion& mr) {
  return std::uint64_t{1} << mr.page_shift;
}

std::uint64_t first_offset(const rvt_mregion& mr) {
  return mr.user_base & (page_bytes(mr) - 1);
}

// Host memory is contiguous, so the pages of a region follow one another.
void write_translation(hw::HostPort& port, const rvt_mregion& mr) {
  std::array<hw::MttEntry, 64> chunk;
  std::uint64_t page = mr.user_base - first_offset(mr);
  for (std::uint32_t done = 0; done < mr.mapsz;) {
    const auto count = std::min<std::uint32_t>(chunk.size(), mr.mapsz - done);
    for (std::uint32_t i = 0; i < count; ++i, page += page_bytes(mr)) chunk[i].address = page;
    port.write(mr.mtt + std::uint64_t{done} * sizeof(hw::MttEntry), chunk.data(),
               count * sizeof(hw::MttEntry));
    done += count;
  }
}

hw::MptEntry protection_entry(const rvt_mregion& mr) {
  hw::MptEntry entry{};
  entry.key = mr.lkey;
  entry.pd = ibpd_to_rvtpd(mr.pd)->number;
  entry.access = mr.access_flags & kAdapterAccess;
  entry.page_shift = mr.page_shift;
  entry.valid = 1;
  entry.iova = mr.iova;
  entry.length = mr.length;
  entry.mtt = mr.mtt;
  entry.mtt_entries = mr.mapsz;
  entry.first_offset = static_cast<std::uint32_t>(first_offset(mr));
  return entry;
}

int map_pages(rvt_dev_info* rdi, rvt_mregion& mr) {
  const std::uint64_t pages = (first_offset(mr) + mr.length - 1) / page_bytes(mr) + 1;
  if (pages > UINT32_MAX) return -EINVAL;
  mr.mapsz = static_cast<std::uint32_t>(pages);
  mr.mtt = rdi->port->allocate(pages * sizeof(hw::MttEntry), 64);
  if (mr.mtt == 0) return -ENOMEM;
  write_translation(*rdi->port, mr);
  return 0;
}

int create_on_adapter(rvt_dev_info* rdi, rvt_mregion& mr) {
  const int error = rvt_alloc_lkey(&rdi->lkey_table, &mr);
  if (error != 0) return error;
  const int refused = rdi->commands->send(
      {.opcode = hw::CommandOpcode::kCreateMr, .object = mr.lkey}, protection_entry(mr));
  if (refused != 0) rvt_free_lkey(&rdi->lkey_table, &mr);
  return refused;
}

int register_region(rvt_dev_info* rdi, rvt_mregion& mr) {
  int error = map_pages(rdi, mr);
  if (error != 0) return error;
  error = create_on_adapter(rdi, mr);
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

}  // namespace

ib_mr* rvt_reg_user_mr(ib_pd* pd, std::uint64_t start, std::uint64_t length,
                       std::uint64_t virt_addr, std::uint32_t access, ib_udata* /*udata*/) {
  if (length == 0 || wraps(start, length) || wraps(virt_addr, length))
    return ERR_PTR<ib_mr>(-EINVAL);
  rvt_dev_info* rdi = ib_to_rvt(pd->device);
  auto mr = std::make_unique<rvt_mr>();
  mr->mr.pd = pd;
  mr->mr.user_base = start;
  mr->mr.iova = virt_addr;
  mr->mr.length = length;
  mr->mr.access_flags = access;
  mr->mr.page_shift = static_cast<std::uint8_t>(rdi->dparms.page_shift);
  const int error = register_region(rdi, mr->mr);
  if (error != 0) return ERR_PTR<ib_mr>(error);
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
  const int error = rdi->commands->send({.opcode = hw::CommandOpcode::kDestroyMr,
                                         .object = mr->mr.lkey,
                                         .timeout = rdi->dparms.dereg_timeout});
  if ((error == -EIO && could_answer) || error == -EDEADLK) return -EBUSY;
  rvt_free_lkey(&rdi->lkey_table, &mr->mr);
  rdi->port->release(mr->mr.mtt);
  --rdi->n_mrs_allocated;
  delete mr;
  return 0;
}

}  // namespace hcasim::rvt
