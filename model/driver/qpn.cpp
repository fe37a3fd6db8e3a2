// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Which queue pair numbers are in use: a bitmap in pages, and the search for the next free one.
#include <cerrno>
#include <new>

#include "hcasim/rvt/rdma_vt.hpp"

namespace hcasim::rvt {
namespace {

// 1: claimed; 0: the bit was set already; -ENOMEM.
int claim(rvt_qpn_table* qpt, std::uint32_t qpn) {
  auto& page = qpt->map[qpn / RVT_BITS_PER_PAGE];
  if (!page) page.reset(new (std::nothrow) rvt_qpn_map{});
  if (!page) return -ENOMEM;
  std::uint64_t& word = (*page)[qpn % RVT_BITS_PER_PAGE / 64];
  const std::uint64_t bit = std::uint64_t{1} << qpn % 64;
  if ((word & bit) != 0) return 0;
  word |= bit;
  return 1;
}

int alloc_special(rvt_qpn_table* qpt, ib_qp_type type, std::uint32_t port_num) {
  const std::uint32_t kind = type == IB_QPT_GSI ? 1 : 0;
  const std::uint64_t bit = std::uint64_t{1} << (kind + 2 * (port_num - 1));
  const SpinGuard guard(qpt->lock);
  if ((qpt->special & bit) != 0) return -EINVAL;
  qpt->special |= bit;
  return static_cast<int>(kind);
}

// The first free QPN of the page from `offset` on; 0 when there is none; -ENOMEM.
int scan_page(rvt_qpn_table* qpt, std::uint32_t map, std::uint32_t offset) {
  for (; offset < RVT_BITS_PER_PAGE; offset += qpt->incr) {
    const std::uint32_t qpn = map * RVT_BITS_PER_PAGE + offset;
    const int claimed = claim(qpt, qpn);
    if (claimed != 0) return claimed < 0 ? claimed : static_cast<int>(qpn);
  }
  return 0;
}

// Where a search goes on after a page: pages in use once round, then a new one. Bit 0 of a QPN
// tells the passes apart: it flips when the search comes round to the first page.
class Search {
 public:
  Search(rvt_qpn_table* qpt, std::uint32_t qpn)
      : qpt_(qpt),
        map_(qpn / RVT_BITS_PER_PAGE),
        offset_(qpn % RVT_BITS_PER_PAGE),
        pages_left_(qpt->nmaps - (offset_ == 0 ? 1 : 0)) {}

  std::uint32_t map() const { return map_; }
  std::uint32_t offset() const { return offset_; }

  bool next_page() {
    std::uint32_t low = offset_ & 1;
    if (pages_left_ == 0) {
      if (qpt_->nmaps == RVT_QPNMAP_ENTRIES) return false;
      map_ = qpt_->nmaps++;
    } else {
      --pages_left_;
      if (map_ + 1 < qpt_->nmaps) {
        ++map_;
      } else {
        map_ = 0;
        low ^= 1;
      }
    }
    offset_ = qpt_->incr | low;
    return true;
  }

 private:
  rvt_qpn_table* qpt_;
  std::uint32_t map_;
  std::uint32_t offset_;
  std::uint32_t pages_left_;
};

}  // namespace

int init_qpn_table(rvt_dev_info* rdi, rvt_qpn_table* qpt) {
  const rvt_driver_params& params = rdi->dparms;
  if (params.qpn_res_end < params.qpn_res_start || params.qpn_res_end > RVT_QPN_MASK)
    return -EINVAL;
  qpt->last = params.qpn_start;
  qpt->incr = static_cast<std::uint8_t>(params.qpn_inc << params.qos_shift);
  qpt->nmaps = params.qpn_res_start / RVT_BITS_PER_PAGE;
  for (std::uint32_t qpn = params.qpn_res_start; qpn <= params.qpn_res_end; ++qpn) {
    if (claim(qpt, qpn) < 0) return -ENOMEM;
    if (qpn % RVT_BITS_PER_PAGE == RVT_BITS_PER_PAGE - 1) ++qpt->nmaps;
  }
  return 0;
}

void free_qpn_table(rvt_qpn_table* qpt) {
  for (auto& page : qpt->map) page.reset();
}

int alloc_qpn(rvt_dev_info* rdi, rvt_qpn_table* qpt, ib_qp_type type, std::uint8_t port_num,
              std::uint8_t exclude_prefix) {
  if (rdi->driver_f.alloc_qpn != nullptr) return rdi->driver_f.alloc_qpn(rdi, qpt, type, port_num);
  if (type == IB_QPT_SMI || type == IB_QPT_GSI) return alloc_special(qpt, type, port_num);
  const SpinGuard guard(qpt->lock);
  const std::uint32_t bound = exclude_prefix == RVT_AIP_QP_PREFIX ? RVT_AIP_QPN_MAX : RVT_QPN_MAX;
  std::uint32_t first = qpt->last + qpt->incr;
  if (first >= bound) first = qpt->incr | ((qpt->last & 1) ^ 1);
  Search search(qpt, first);
  do {
    const int qpn = scan_page(qpt, search.map(), search.offset());
    if (qpn > 0) qpt->last = static_cast<std::uint32_t>(qpn);
    if (qpn != 0) return qpn;
  } while (search.next_page());
  return -ENOMEM;
}

void rvt_free_qpn(rvt_qpn_table* qpt, std::uint32_t qpn) {
  qpn &= RVT_QPN_MASK;
  if (qpn >> 16 == RVT_AIP_QP_PREFIX) qpn &= RVT_AIP_QPN_MAX - 1;
  auto& page = qpt->map[qpn / RVT_BITS_PER_PAGE];
  if (page) (*page)[qpn % RVT_BITS_PER_PAGE / 64] &= ~(std::uint64_t{1} << qpn % 64);
}

void rvt_free_special_qpn(rvt_qpn_table* qpt, std::uint32_t qpn, std::uint32_t port_num) {
  qpt->special &= ~(std::uint64_t{1} << (qpn + 2 * (port_num - 1)));
}

}  // namespace hcasim::rvt
