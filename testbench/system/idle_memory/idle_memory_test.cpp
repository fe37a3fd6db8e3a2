// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// What a queue pair costs that does nothing.

#include <gtest/gtest.h>

#include <string>

#include "hcasim/rvt/verbs.hpp"
#include "hcasim/sim/config.hpp"
#include "sim/system/system.hpp"
#include "support/bring_up.hpp"
#include "support/resident_memory.hpp"

namespace hcasim::testing {
namespace {

constexpr unsigned kFew = 1'000;
constexpr unsigned kMany = 100'000;
constexpr double kMostBytes = 4096;

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
  const auto path = support::path_between(system.node(0).address(), system.node(1).address());
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
      support::to_init(qp);
      support::to_rts(qp, qp->qp_num, path, {});
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
