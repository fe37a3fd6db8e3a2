// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {

/// A queue pair that may send, and requests for it.
class SendTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    qp = make_qp_in(IB_QPS_RTS);
    host.doorbells.clear();
  }
  static ib_rdma_wr rdma(ib_wr_opcode opcode, const ib_sge& data) {
    ib_rdma_wr wr;
    wr.wr.opcode = opcode;
    wr.wr.sg_list = &data;
    wr.wr.num_sge = 1;
    wr.remote_addr = 0x1122'3344'5566'7788;
    wr.rkey = 0x99;
    return wr;
  }
  int post(const ib_send_wr& wr) { return ib_post_send(qp, &wr, &bad_send); }
  /// Fills the send queue.
  void fill() {
    for (std::uint64_t i = 0; i < 4; ++i) ASSERT_EQ(post_send(qp, i), 0);
  }

  ib_qp* qp = nullptr;
};

}  // namespace hcasim::rvt
