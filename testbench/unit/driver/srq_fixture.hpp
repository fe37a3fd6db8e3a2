// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {

/// Shared receive queues, and what the adapter does with them.
class Srq : public DriverTest {
 protected:
  static ib_srq_init_attr srq_attr(std::uint32_t max_wr = 4, std::uint32_t max_sge = 2) {
    ib_srq_init_attr attr;
    attr.attr = {max_wr, max_sge, 0};
    return attr;
  }
  ib_srq* create(ib_srq_init_attr attr = srq_attr()) {
    attr.event_handler = Seen::event;
    attr.srq_context = &srq_seen;
    ib_srq* srq = ib_create_srq(pd, &attr);
    if (!IS_ERR(srq)) srqs.push_back(srq);
    return srq;
  }
  int error_of(const ib_srq_init_attr& attr) { return static_cast<int>(PTR_ERR(create(attr))); }
  ib_qp* make_srq_qp(ib_srq* srq, ib_qp_state state = IB_QPS_RTS) {
    ib_qp_init_attr attr = init_attr();
    attr.srq = srq;
    return make_qp_in(state, attr);
  }
  int post(ib_srq* srq, std::uint64_t wr_id, int num_sge = 0) {
    const ib_sge data[2] = {sge(64), sge(64)};
    ib_recv_wr wr;
    wr.wr_id = wr_id;
    wr.sg_list = data;
    wr.num_sge = num_sge;
    return ib_post_srq_recv(srq, &wr, &bad_recv);
  }
  static int modify_srq(ib_srq* srq, std::uint32_t mask, std::uint32_t max_wr,
                        std::uint32_t limit) {
    const ib_srq_attr attr{max_wr, 0, limit};
    return ib_modify_srq(srq, &attr, mask);
  }
  static int set_limit(ib_srq* srq, std::uint32_t limit) {
    return modify_srq(srq, IB_SRQ_LIMIT, 0, limit);
  }
  static int resize(ib_srq* srq, std::uint32_t max_wr) {
    return modify_srq(srq, IB_SRQ_MAX_WR, max_wr, 0);
  }
  using DriverTest::query;
  static ib_srq_attr query(ib_srq* srq) {
    ib_srq_attr attr;
    EXPECT_EQ(ib_query_srq(srq, &attr), 0);
    return attr;
  }
  using DriverTest::rvt;
  static rvt_srq* rvt(ib_srq* srq) { return ibsrq_to_rvtsrq(srq); }
  hw::SrqContext& on_adapter(ib_srq* srq) { return host.srqs.at(rvt(srq)->srqn); }
  /// The adapter has handed out `count` more.
  void take(ib_srq* srq, std::uint32_t count) {
    hw::SrqContext& context = on_adapter(srq);
    context.tail = (context.tail + count) % context.size;
    const hw::TailRecord record{context.tail, 0};
    host.write(context.tail_record, &record, sizeof record);
  }
  std::vector<std::uint64_t> in_ring(ib_srq* srq) {
    const rvt_rq& rq = rvt(srq)->rq;
    std::vector<std::uint64_t> ids;
    for (std::uint32_t i = on_adapter(srq).tail; i != rq.head; i = (i + 1) % rq.size) {
      std::uint64_t id = 0;
      host.read(rq.wq + std::uint64_t{i} * rq.stride, &id, sizeof id);
      ids.push_back(id);
    }
    return ids;
  }
  std::size_t events(ib_event_type type) const {
    return static_cast<std::size_t>(
        std::count(srq_seen.events.begin(), srq_seen.events.end(), type));
  }

  Seen srq_seen;
};

using Ids = std::vector<std::uint64_t>;

}  // namespace hcasim::rvt
