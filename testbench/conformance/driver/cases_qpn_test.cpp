// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Conformance cases of queue pair numbers and iteration.
#include <cerrno>
#include <set>

#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

class QpnCases : public testing::Test {
 protected:
  int init(std::uint32_t qos_shift) {
    rdi.dparms.qos_shift = qos_shift;
    return init_qpn_table(&rdi, &table);
  }
  int next() { return alloc_qpn(&rdi, &table, IB_QPT_RC, 1, 0); }

  rvt_dev_info rdi;
  rvt_qpn_table table;
};

TEST_F(QpnCases, B04_ShiftOneGivesEvenNumbersThenOddOnes) {
  ASSERT_EQ(init(1), 0);
  EXPECT_EQ(next(), 2);
  EXPECT_EQ(next(), 4);
  EXPECT_EQ(next(), 6);
  table.last = RVT_QPN_MAX - 4;
  EXPECT_EQ(next(), static_cast<int>(RVT_QPN_MAX - 2));
  EXPECT_EQ(next(), 3);
  EXPECT_EQ(next(), 5);
  EXPECT_EQ(next(), 7);
}

TEST_F(QpnCases, B04_WiderShiftsKeepTheLowBitsClear) {
  for (const std::uint32_t shift : {2u, 3u}) {
    free_qpn_table(&table);
    ASSERT_EQ(init(shift), 0);
    const std::uint32_t forbidden = (1u << shift) - 2;
    const int step = 1 << shift;
    for (int i = 1; i <= 20'000; ++i) {
      const int qpn = next();
      ASSERT_EQ(static_cast<std::uint32_t>(qpn) & forbidden, 0u) << qpn;
      if (i < 100) {
        ASSERT_EQ(qpn, i * step);
      }
    }
    table.last = RVT_QPN_MAX - static_cast<std::uint32_t>(step);
    EXPECT_EQ(next(), step + 1);
  }
}

class TwoPorts : public DriverTest {
 protected:
  TwoPorts() { host.limits.ports = 2; }
  ib_qp* make_special(ib_qp_type type, std::uint32_t port) {
    ib_qp_init_attr attr = init_attr();
    attr.qp_type = type;
    attr.port_num = port;
    return make_qp(attr);
  }
  int init_special(ib_qp* qp) {
    return modify(qp, IB_QPS_INIT, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_QKEY);
  }
};

TEST_F(TwoPorts, B16_Quirk15_SpecialQueuePairsOfEveryPortAreVisitedOnce) {
  std::multiset<const ib_qp*> made;
  for (const std::uint32_t port : {1u, 2u}) {
    for (const ib_qp_type type : {IB_QPT_SMI, IB_QPT_GSI}) {
      ib_qp* qp = make_special(type, port);
      ASSERT_FALSE(IS_ERR(qp));
      ASSERT_EQ(init_special(qp), 0);
      made.insert(qp);
    }
  }
  std::multiset<const ib_qp*> visited;
  rvt_qp_iter(device.get(), reinterpret_cast<std::uint64_t>(&visited),
              [](rvt_qp* qp, std::uint64_t v) {
                reinterpret_cast<std::multiset<const ib_qp*>*>(v)->insert(&qp->ibqp);
              });
  EXPECT_EQ(visited, made);
}

TEST_F(TwoPorts, H3_Quirk6_SpecialQueuePairCanBeMadeAgain) {
  ib_qp* first = make_special(IB_QPT_SMI, 1);
  ASSERT_FALSE(IS_ERR(first));
  EXPECT_EQ(PTR_ERR(make_special(IB_QPT_SMI, 1)), -EINVAL);
  EXPECT_FALSE(IS_ERR(make_special(IB_QPT_SMI, 2)));
  destroy(first);
  EXPECT_FALSE(IS_ERR(make_special(IB_QPT_SMI, 1)));
}

}  // namespace
}  // namespace hcasim::rvt
