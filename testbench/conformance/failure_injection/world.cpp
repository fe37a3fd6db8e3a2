// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "conformance/failure_injection/world.hpp"

#include <algorithm>
#include <bit>

namespace hcasim::rvt {

ib_qp_attr World::path() {
  ib_qp_attr attr;
  attr.port_num = 1;
  attr.path_mtu = IB_MTU_1024;
  attr.dest_qp_num = 0x77;
  attr.max_dest_rd_atomic = attr.max_rd_atomic = 4;
  attr.min_rnr_timer = 12;
  attr.retry_cnt = 7;
  return attr;
}

void World::count_tables(Books& books) const {
  std::int64_t numbers = std::popcount(device->qp_dev.qpn_table.special);
  for (const auto& page : device->qp_dev.qpn_table.map) {
    if (!page) continue;
    for (const std::uint64_t word : *page) numbers += std::popcount(word);
  }
  std::int64_t by_number = 0;
  for (const auto& page : device->qp_dev.by_number)
    if (page) by_number += 32768 - std::ranges::count(*page, nullptr);
  std::int64_t in_table = 0;
  for (std::uint32_t n = 0; n < device->qp_dev.qp_table_size; ++n)
    for (const rvt_qp* each = device->qp_dev.qp_table[n]; each != nullptr; each = each->next)
      ++in_table;
  const auto used = [](const auto& table) {
    return static_cast<std::int64_t>(table.size()) - std::ranges::count(table, nullptr);
  };
  books["numbers"] = numbers;
  books["by_number"] = by_number;
  books["in_table"] = in_table;
  books["keys"] = used(device->lkey_table.table);
  books["cq_table"] = used(device->cqs);
  books["srq_table"] = used(device->srqs);
  books["pd_table"] = std::ranges::count(device->pds, true);
}

void World::count_objects(Books& books) const {
  if (pd != nullptr) books["pd.usecnt"] = pd->usecnt;
  if (cq != nullptr) {
    books["cq.usecnt"] = cq->usecnt;
    books["cq.cqe"] = cq->cqe;
    books["cq.full"] = ibcq_to_rvtcq(cq)->cq_full ? 1 : 0;
  }
  if (srq != nullptr) {
    const rvt_srq* it = ibsrq_to_rvtsrq(srq);
    books["srq.usecnt"] = srq->usecnt;
    books["srq.size"] = it->rq.size;
    books["srq.limit"] = it->limit;
    books["srq.held"] = it->rq.head >= it->rq.tail ? it->rq.head - it->rq.tail
                                                   : it->rq.head + it->rq.size - it->rq.tail;
  }
  if (qp != nullptr) {
    books["qp.state"] = ibqp_to_rvtqp(qp)->state;
    books["qp.usecnt"] = qp->usecnt;
    books["qp.in_table"] = ibqp_to_rvtqp(qp)->in_table ? 1 : 0;
    books["qp.looped"] = ibqp_to_rvtqp(qp)->looped ? 1 : 0;
    books["qp.rq_on_adapter"] = ibqp_to_rvtqp(qp)->r_rq.on_adapter ? 1 : 0;
  }
}

Books World::books() const {
  const auto size = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
  Books books;
  books["n_pds"] = device->n_pds_allocated;
  books["n_ahs"] = device->n_ahs_allocated;
  books["n_cqs"] = device->n_cqs_allocated;
  books["n_srqs"] = device->n_srqs_allocated;
  books["n_qps"] = device->n_qps_allocated;
  books["n_rc_qps"] = device->n_rc_qps;
  books["n_mrs"] = device->n_mrs_allocated;
  books["blocks"] = static_cast<std::int64_t>(host.blocks_allocated());
  books["timers"] = static_cast<std::int64_t>(host.timers_pending());
  books["groups"] = device->ports.empty() ? 0 : size(device->ports[0].mcast_tree);
  books["members"] = books["groups"] == 0 ? 0 : size(device->ports[0].mcast_tree[0].qps);
  books["adapter.cqs"] = size(host.cqs);
  books["adapter.qps"] = size(host.qps);
  books["adapter.srqs"] = size(host.srqs);
  books["adapter.mrs"] = size(host.mrs);
  books["adapter.members"] = size(host.members);
  count_tables(books);
  count_objects(books);
  return books;
}

}  // namespace hcasim::rvt
