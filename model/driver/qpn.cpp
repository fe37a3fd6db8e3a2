// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Which queue pair numbers are in use: a bitmap in pages, and the search for the next free one.
#include <cerrno>

#include "hcasim/rvt/rdma_vt.hpp"

namespace hcasim::rvt {
namespace {

rvt_qpn_map& page_of(rvt_qpn_table* qpt, std::uint32_t map) {
  if (!qpt->map[map]) qpt->map[map] = std::make_unique<rvt_qpn_map>();
  return *qpt->map[map];
}

// False when the bit was set already.
bool claim(rvt_qpn_table* qpt, std::uint32_t qpn) {
  std::uint64_t& word = page_of(qpt, qpn / RVT_BITS_PER_PAGE)[qpn % RVT_BITS_PER_PAGE / 64];
  const std::uint64_t bit = std::uint64_t{1} << qpn % 64;
  if ((word & bit) != 0) return false;
  word |= bit;
  return true;
}

int alloc_special(rvt_qpn_table* qpt, ib_qp_type type, std::uint32_t port_num) {
  const std::uint32_t kind = type == IB_QPT_GSI ? 1 : 0;
  const std::uint64_t bit = std::uint64_t{1} << (kind + 2 * (port_num - 1));
  const SpinGuard guard(qpt->lock);
  if ((qpt->special & bit) != 0) return -EINVAL;
  qpt->special |= bit;
  return static_cast<int>(kind);
}

// The first free QPN of the page from `offset` on; 0 when there is none.
std::uint32_t scan_page(rvt_qpn_table* qpt, std::uint32_t map, std::uint32_t offset) {
  for (; offset < RVT_BITS_PER_PAGE; offset += qpt->incr) {
    const std::uint32_t qpn = map * RVT_BITS_PER_PAGE + offset;
    if (claim(qpt, qpn)) return qpn;
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
  if (params.qpn_res_end < params.qpn_res_start) return -EINVAL;
  qpt->last = params.qpn_start;
  qpt->incr = static_cast<std::uint8_t>(params.qpn_inc << params.qos_shift);
  qpt->nmaps = params.qpn_res_start / RVT_BITS_PER_PAGE;
  for (std::uint32_t qpn = params.qpn_res_start; qpn <= params.qpn_res_end; ++qpn) {
    claim(qpt, qpn);
    if (qpn % RVT_BITS_PER_PAGE == RVT_BITS_PER_PAGE - 1) ++qpt->nmaps;
  }
  return 0;
}

void free_qpn_table(rvt_qpn_table* qpt) {
  for (auto& page : qpt->map) page.reset();
}

int alloc_qpn(rvt_dev_info* /*rdi*/, rvt_qpn_table* qpt, ib_qp_type type, std::uint8_t port_num,
              std::uint8_t exclude_prefix) {
  if (type == IB_QPT_SMI || type == IB_QPT_GSI) return alloc_special(qpt, type, port_num);
  const SpinGuard guard(qpt->lock);
  const std::uint32_t bound = exclude_prefix == RVT_AIP_QP_PREFIX ? RVT_AIP_QPN_MAX : RVT_QPN_MAX;
  std::uint32_t first = qpt->last + qpt->incr;
  if (first >= bound) first = qpt->incr | ((qpt->last & 1) ^ 1);
  Search search(qpt, first);
  do {
    const std::uint32_t qpn = scan_page(qpt, search.map(), search.offset());
    if (qpn != 0) {
      qpt->last = qpn;
      return static_cast<int>(qpn);
    }
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
