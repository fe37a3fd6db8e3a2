// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// What a queue pair costs that does nothing.

#include <gtest/gtest.h>

#include <string>

#include "hcasim/rvt/verbs.hpp"
#include "hcasim/sim/config.hpp"
#include "sim/system/system.hpp"
#include "support/resident_memory.hpp"

namespace hcasim::testing {
namespace {

constexpr unsigned kFew = 1'000;
constexpr unsigned kMany = 100'000;
constexpr double kMostBytes = 4096;

void to_rts(rvt::ib_qp* qp, const sim::NodeAddress& address) {
  rvt::ib_qp_attr attr;
  attr.qp_state = rvt::IB_QPS_INIT;
  attr.port_num = 1;
  ASSERT_EQ(rvt::ib_modify_qp(qp, &attr,
                              rvt::IB_QP_STATE | rvt::IB_QP_PKEY_INDEX | rvt::IB_QP_PORT |
                                  rvt::IB_QP_ACCESS_FLAGS),
            0);
  attr.qp_state = rvt::IB_QPS_RTR;
  attr.path_mtu = rvt::IB_MTU_1024;
  attr.dest_qp_num = qp->qp_num;
  attr.ah_attr.grh.sgid = attr.ah_attr.grh.dgid = address.gid;
  attr.ah_attr.roce.smac = attr.ah_attr.roce.dmac = address.mac;
  ASSERT_EQ(rvt::ib_modify_qp(qp, &attr,
                              rvt::IB_QP_STATE | rvt::IB_QP_AV | rvt::IB_QP_PATH_MTU |
                                  rvt::IB_QP_DEST_QPN | rvt::IB_QP_RQ_PSN |
                                  rvt::IB_QP_MAX_DEST_RD_ATOMIC | rvt::IB_QP_MIN_RNR_TIMER),
            0);
  attr.qp_state = rvt::IB_QPS_RTS;
  ASSERT_EQ(
      rvt::ib_modify_qp(qp, &attr,
                        rvt::IB_QP_STATE | rvt::IB_QP_TIMEOUT | rvt::IB_QP_RETRY_CNT |
                            rvt::IB_QP_RNR_RETRY | rvt::IB_QP_SQ_PSN | rvt::IB_QP_MAX_QP_RD_ATOMIC),
      0);
}

// Queues as deep as those that a trace's `connect` makes. They are left to the end of the process,
// which is why a sanitizer, whose own memory would count too, does not run this.
TEST(IdleMemory, AQueuePairInRtsCostsAPageAtMost) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "memory is not that of the program";
#endif
  sim::ConfigSources sources;
  sources.settings = {"hca.device.max_qp=200000"};
  sim::System system(sim::load_config(sources), {{"a", "b"}});
  ASSERT_EQ(system.start_devices(), 0);
  double few = 0;
  double many = 0;
  system.run_task(0, [&] {
    rvt::ib_device* device = rvt::rvt_ib_device(system.node(0).device());
    rvt::ib_pd* pd = rvt::ib_alloc_pd(device);
    rvt::ib_cq_init_attr cq_attr;
    cq_attr.cqe = 16;
    rvt::ib_cq* cq = rvt::ib_create_cq(device, nullptr, nullptr, nullptr, &cq_attr);
    rvt::ib_qp_init_attr init;
    init.send_cq = init.recv_cq = cq;
    init.cap.max_send_wr = init.cap.max_recv_wr = 128;
    init.cap.max_send_sge = init.cap.max_recv_sge = 4;
    for (unsigned made = 0; made < kMany; ++made) {
      rvt::ib_qp* qp = rvt::ib_create_qp(pd, &init);
      ASSERT_FALSE(rvt::IS_ERR(qp)) << made;
      to_rts(qp, system.node(1).address());
      if (made + 1 == kFew) few = support::resident_bytes();
    }
    many = support::resident_bytes();
  });
  const double each = (many - few) / (kMany - kFew);
  RecordProperty("bytes_of_a_queue_pair", std::to_string(each));
  EXPECT_LE(each, kMostBytes);
}

}  // namespace
}  // namespace hcasim::testing
