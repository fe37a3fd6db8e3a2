// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Copying into lists of elements: where a region lies in host memory, and what the CPU takes for
// it.
#include <algorithm>

#include "driver/loopback_internal.hpp"
#include "driver/mr_internal.hpp"
#include "hcasim/hw/contexts.hpp"

namespace hcasim::rvt {
namespace {

hw::HostPort& port_of(const rvt_mregion& mr) {
  return *ib_to_rvt(mr.pd->device)->port;
}

// A region that ib_map_mr_sg has made lies where its translation table says.
std::uint64_t translate(const rvt_mregion& mr, std::uint64_t offset) {
  const std::uint64_t within = rvt_mr_first_offset(mr) + offset;
  hw::MttEntry entry;
  port_of(mr).read(mr.mtt + (within >> mr.page_shift) * sizeof entry, &entry, sizeof entry);
  return entry.address + (within & (rvt_mr_page_bytes(mr) - 1));
}

std::uint64_t left_in_page(const rvt_sge& sge) {
  const std::uint64_t page = rvt_mr_page_bytes(*sge.mr);
  return page - ((rvt_mr_first_offset(*sge.mr) + (sge.addr - sge.mr->iova)) & (page - 1));
}

void copy(hw::HostPort& port, rvt_sge_state* ss, const std::uint8_t* data, std::uint32_t length,
          bool release, bool by_byte) {
  while (length != 0) {
    const std::uint32_t some = rvt_get_sge_length(&ss->sge, length);
    const std::uint64_t to = rvt_sge_address(ss->sge);
    const std::uint32_t step = by_byte ? 1 : some;
    for (std::uint32_t done = 0; done < some; done += step)
      port.write(to + done, data + done, step);
    rvt_update_sge(ss, some, release);
    data += some;
    length -= some;
  }
}

}  // namespace

std::uint64_t rvt_sge_address(const rvt_sge& sge) {
  if (sge.mr == nullptr) return sge.addr;
  const std::uint64_t offset = sge.addr - sge.mr->iova;
  return sge.mr->fast_register ? translate(*sge.mr, offset) : sge.mr->user_base + offset;
}

hw::Time rvt_copy_time(const rvt_dev_info* rdi, std::uint64_t bytes) {
  constexpr double kPicosecondsPerByte = 1000;  // at 1 GB/s
  const double rate = rdi->dparms.copy_gb_per_s;
  return rate == 0 ? 0
                   : static_cast<hw::Time>(static_cast<double>(bytes) * kPicosecondsPerByte / rate);
}

std::uint32_t rvt_get_sge_length(const rvt_sge* sge, std::uint32_t length) {
  const std::uint32_t left = std::min(sge->length, length);
  if (sge->mr == nullptr || !sge->mr->fast_register) return left;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(left, left_in_page(*sge)));
}

void rvt_update_sge(rvt_sge_state* ss, std::uint32_t length, bool release) {
  ss->sge.addr += length;
  ss->sge.length -= length;
  if (ss->sge.length != 0) return;
  if (release) ss->sge.mr = nullptr;
  if (--ss->num_sge != 0) ss->sge = *ss->sg_list++;
}

void rvt_skip_sge(rvt_sge_state* ss, std::uint32_t length, bool release) {
  while (length != 0) {
    const std::uint32_t some = rvt_get_sge_length(&ss->sge, length);
    rvt_update_sge(ss, some, release);
    length -= some;
  }
}

void rvt_copy_sge(rvt_qp* qp, rvt_sge_state* ss, const void* data, std::uint32_t length,
                  bool release, bool copy_last) {
  constexpr std::uint32_t kLast = 8;
  hw::HostPort& port = *qp->rdi->port;
  const std::uint32_t last = copy_last ? std::min(length, kLast) : 0;
  const auto* const bytes = static_cast<const std::uint8_t*>(data);
  copy(port, ss, bytes, length - last, release, false);
  copy(port, ss, bytes + length - last, last, release, true);
  if (!qp->rdi->copy_paid) port.charge(rvt_copy_time(qp->rdi, length));
}

}  // namespace hcasim::rvt
