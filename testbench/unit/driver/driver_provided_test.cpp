// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Functions of the driver above: when they are called, and what their refusals undo.
#include <cerrno>
#include <string>

#include "hcasim/rvt/err_ptr.hpp"
#include "unit/driver/send_fixture.hpp"

namespace hcasim::rvt {
namespace {

/// Everything that was called, in order, and what to answer.
struct Calls {
  std::vector<std::string> names;
  std::vector<ib_qp_state> states;  ///< of the queue pair at the call
  int answer = 0;                   ///< of the next function that has one
  rvt_swqe wqe;                     ///< as setup_wqe saw it
  bool in_table = false;            ///< packets found the queue pair when modify_qp was called

  int note(const char* name, const rvt_qp* qp = nullptr) {
    names.emplace_back(name);
    states.push_back(qp != nullptr ? qp->state : IB_QPS_RESET);
    return std::exchange(answer, 0);
  }
};
// The functions are plain pointers, as the kernel's.
Calls* calls = nullptr;

rvt_driver_provided recording() {
  rvt_driver_provided hooks;
  hooks.qp_priv_alloc = [](rvt_dev_info*, rvt_qp*) -> void* {
    const int error = calls->note("alloc");
    return error != 0 ? ERR_PTR<void>(error) : calls;
  };
  hooks.qp_priv_init = [](rvt_dev_info*, rvt_qp* qp, ib_qp_init_attr*) {
    EXPECT_NE(qp->ibqp.qp_num, 0u);
    return calls->note("init", qp);
  };
  hooks.qp_priv_free = [](rvt_dev_info*, rvt_qp* qp) {
    EXPECT_EQ(qp->priv, calls);
    EXPECT_EQ(qp->r_rq.wq, 0u);
    EXPECT_NE(qp->s_ring, 0u);
    calls->note("free", qp);
  };
  hooks.setup_wqe = [](rvt_qp* qp, const rvt_swqe* wqe, bool*) {
    calls->wqe = *wqe;
    return calls->note("setup", qp);
  };
  hooks.check_modify_qp = [](rvt_qp* qp, ib_qp_attr*, int, ib_udata*) {
    return calls->note("check", qp);
  };
  hooks.modify_qp = [](rvt_qp* qp, ib_qp_attr*, int, ib_udata*) {
    calls->in_table = rvt_lookup_qpn(qp->rdi, 1, qp->ibqp.qp_num) != nullptr;
    calls->note("modify", qp);
  };
  hooks.notify_qp_reset = [](rvt_qp* qp) { calls->note("reset", qp); };
  hooks.notify_error_qp = [](rvt_qp* qp) { calls->note("error", qp); };
  return hooks;
}

class DriverProvided : public SendTest {
 protected:
  void SetUp() override {
    SendTest::SetUp();
    calls = &seen;
    device->driver_f = recording();
  }
  void TearDown() override {
    device->driver_f = {};
    SendTest::TearDown();
  }
  std::vector<std::string> names() { return std::exchange(seen.names, {}); }

  Calls seen;
};
using Names = std::vector<std::string>;

TEST_F(DriverProvided, CreationAndDestruction) {
  const std::uint32_t before = device->qp_dev.qpn_table.last;
  ib_qp* made = make_qp();
  EXPECT_EQ(names(), (Names{"alloc", "init"}));
  EXPECT_EQ(rvt(made)->priv, calls);
  EXPECT_GT(made->qp_num, before);
  destroy(made);
  EXPECT_EQ(names(), Names{"free"});  // it was in RESET
  made = make_qp_in(IB_QPS_INIT);
  names();
  destroy(made);
  EXPECT_EQ(names(), (Names{"reset", "free"}));
}

TEST_F(DriverProvided, RefusalOfPrivateDataComesBackAndNothingIsFreedTwice) {
  const std::size_t blocks = host.blocks_allocated();
  seen.answer = -ENOSPC;
  EXPECT_EQ(create_error(init_attr()), -ENOSPC);
  EXPECT_EQ(names(), Names{"alloc"});
  EXPECT_EQ(host.blocks_allocated(), blocks);
}

TEST_F(DriverProvided, Quirk8_RefusalOfInitialisationUnwindsTheNumberToo) {
  const std::size_t blocks = host.blocks_allocated();
  device->driver_f.qp_priv_alloc = [](rvt_dev_info*, rvt_qp*) -> void* { return calls; };
  seen.answer = -ENXIO;
  EXPECT_EQ(create_error(init_attr_of(IB_QPT_GSI)), -ENXIO);
  EXPECT_EQ(names(), (Names{"init", "free"}));
  EXPECT_EQ(host.blocks_allocated(), blocks);
  EXPECT_EQ(device->n_qps_allocated, 1);
  device->driver_f = {};
  EXPECT_EQ(create_error(init_attr_of(IB_QPT_GSI)), 0);  // its number is free
}

TEST_F(DriverProvided, LaterFailuresFreePrivateData) {
  host.allocations_until_failure = 1;  // the receive ring
  EXPECT_EQ(create_error(init_attr()), -ENOMEM);
  EXPECT_EQ(names(), (Names{"alloc", "free"}));
  host.allocations_until_failure = -1;
  ibdev->attrs.max_qp = 1;
  EXPECT_EQ(create_error(init_attr()), -ENOMEM);
  EXPECT_EQ(names(), (Names{"alloc", "init", "free"}));
  ibdev->attrs.max_qp = 64;
  host.commands_until_failure = 0;
  EXPECT_EQ(create_error(init_attr()), -EINVAL);
  EXPECT_EQ(names(), (Names{"alloc", "init", "free"}));
}

TEST_F(DriverProvided, NumbersThatCannotBeAreRefused) {
  static int answer = 0;
  device->driver_f.alloc_qpn = [](auto...) { return answer; };
  for (const int bad : {0, 1, 0x100'0000, static_cast<int>(qp->qp_num)}) {
    answer = bad;
    EXPECT_EQ(create_error(init_attr()), -EINVAL) << bad;
  }
  answer = 2;
  EXPECT_EQ(create_error(init_attr_of(IB_QPT_GSI)), -EINVAL);
  answer = -EMFILE;
  EXPECT_EQ(create_error(init_attr()), -EMFILE);
  answer = 0x12345;
  EXPECT_EQ(make_qp()->qp_num, 0x12345u);
  EXPECT_EQ(rvt_find_qp(device.get(), qp->qp_num), rvt(qp));
}

TEST_F(DriverProvided, SendsAreShownWithTheirNumbers) {
  const ib_sge data = sge(2000);
  ib_rdma_wr wr = rdma(IB_WR_RDMA_WRITE, data);
  wr.wr.wr_id = 5;
  ASSERT_EQ(post(wr.wr), 0);
  EXPECT_EQ(names(), Names{"setup"});
  EXPECT_EQ(seen.wqe.wr_id, 5u);
  EXPECT_EQ(seen.wqe.length, 2000u);
  EXPECT_EQ(seen.wqe.opcode, IB_WR_RDMA_WRITE);
  EXPECT_EQ(seen.wqe.num_sge, 1);
  EXPECT_EQ(seen.wqe.ssn, 1u);
  EXPECT_EQ(seen.wqe.psn, 0x200u);
  EXPECT_EQ(seen.wqe.lpsn, 0x201u);
}

TEST_F(DriverProvided, VetoOfASendChangesNothing) {
  seen.answer = -EPERM;
  EXPECT_EQ(post_send(qp, 1), -EPERM);
  EXPECT_NE(bad_send, nullptr);
  EXPECT_EQ(rvt(qp)->s_head, 0u);
  EXPECT_EQ(rvt(qp)->s_avail, 4u);
  EXPECT_EQ(rvt(qp)->s_ssn, 1u);  // rdmavt loses one
  EXPECT_EQ(rvt(qp)->s_next_psn, 0x200u);
  EXPECT_TRUE(host.doorbells.empty());
  ASSERT_EQ(post_send(qp, 2), 0);
  EXPECT_EQ(rvt(qp)->s_wq[0].ssn, 1u);
}

TEST_F(DriverProvided, VetoOfARegistrationLeavesTheRegionAlone) {
  ib_mr* fast = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 1);
  ib_reg_wr wr;
  wr.wr.opcode = IB_WR_REG_MR;
  wr.mr = fast;
  wr.key = fast->lkey + 1;
  const std::uint32_t key = fast->lkey;
  seen.answer = -EPERM;
  EXPECT_EQ(post(wr.wr), -EPERM);
  EXPECT_EQ(fast->lkey, key);
  EXPECT_EQ(post(wr.wr), 0);
  EXPECT_EQ(fast->lkey, key + 1);
  EXPECT_EQ(seen.wqe.ssn, 0u);
  EXPECT_EQ(ib_dereg_mr(fast), 0);
}

TEST_F(DriverProvided, ModificationIsAskedForThenTold) {
  ib_qp* made = make_qp();
  names();
  ASSERT_EQ(to_state(made, IB_QPS_INIT), 0);
  EXPECT_EQ(names(), (Names{"check", "modify"}));
  EXPECT_EQ(seen.states.back(), IB_QPS_INIT);
  EXPECT_FALSE(seen.in_table);  // not yet
  EXPECT_NE(rvt_lookup_qpn(device.get(), 1, made->qp_num), nullptr);
  seen.answer = -EACCES;
  EXPECT_EQ(to_state(made, IB_QPS_RTR), -EINVAL);
  EXPECT_EQ(names(), Names{"check"});
  EXPECT_EQ(rvt(made)->state, IB_QPS_INIT);
  EXPECT_EQ(modify_with(made, IB_QPS_RTR, kRtrMask, [](ib_qp_attr& a) { a.min_rnr_timer = 32; }),
            -EINVAL);
  EXPECT_EQ(names(), Names{"check"});
  host.commands_until_failure = 0;
  EXPECT_EQ(to_state(made, IB_QPS_RTR), -EINVAL);
  EXPECT_EQ(names(), Names{"check"});
}

TEST_F(DriverProvided, ErrorIsToldOnceWhoeverCausesIt) {
  ASSERT_EQ(to_state(qp, IB_QPS_ERR), 0);
  EXPECT_EQ(names(), (Names{"check", "error", "modify"}));
  EXPECT_EQ(seen.states[1], IB_QPS_ERR);
  ASSERT_EQ(to_state(qp, IB_QPS_ERR), 0);
  EXPECT_EQ(names(), (Names{"check", "modify"}));
  ASSERT_EQ(to_state(qp, IB_QPS_RESET), 0);
  EXPECT_EQ(names(), (Names{"check", "reset", "modify"}));
  EXPECT_EQ(seen.states.back(), IB_QPS_RESET);
  bring(qp, IB_QPS_RTS);
  names();
  host.event(0, hw::EqeType::kQpError, qp->qp_num);
  host.event(0, hw::EqeType::kQpErrorDone, qp->qp_num);
  EXPECT_EQ(error_qp(qp), 0);
  EXPECT_EQ(names(), Names{"error"});
  ib_qp* other = make_qp_in(IB_QPS_RTS);
  names();
  EXPECT_EQ(error_qp(other), 0);
  EXPECT_EQ(error_qp(other), 0);
  EXPECT_EQ(names(), Names{"error"});
}

TEST_F(DriverProvided, ResetIsToldBeforeTheContentsGo) {
  device->driver_f.notify_qp_reset = [](rvt_qp* going) {
    EXPECT_EQ(going->s_head, 1u);
    calls->note("reset", going);
  };
  ASSERT_EQ(post_send(qp, 1), 0);
  names();
  EXPECT_EQ(rvt_reset_qp(device.get(), rvt(qp), IB_QPT_RC), 0);
  EXPECT_EQ(rvt_reset_qp(device.get(), rvt(qp), IB_QPT_RC), 0);  // is in RESET
  EXPECT_EQ(names(), Names{"reset"});
  EXPECT_EQ(rvt(qp)->s_head, 0u);
}

TEST_F(DriverProvided, PathsAreShownAfterAllOtherChecks) {
  device->driver_f.check_ah = [](ib_device*, const rdma_ah_attr*) {
    return calls->note("check_ah");
  };
  device->driver_f.notify_new_ah = [](ib_device*, const rdma_ah_attr*, rvt_ah* ah) {
    ah->log_pmtu = 8;
    calls->note("new_ah");
  };
  rdma_ah_attr attr = path().ah_attr;
  attr.port_num = 9;
  EXPECT_EQ(PTR_ERR(rdma_create_ah(pd, &attr)), -EINVAL);
  EXPECT_EQ(names(), Names{});
  attr.port_num = 1;
  seen.answer = -EPERM;
  EXPECT_EQ(rvt_check_ah(ibdev, &attr), -EPERM);
  seen.answer = -EPERM;
  EXPECT_EQ(PTR_ERR(rdma_create_ah(pd, &attr)), -EINVAL);
  EXPECT_EQ(names(), (Names{"check_ah", "check_ah"}));
  ib_ah* ah = rdma_create_ah(pd, &attr);
  EXPECT_EQ(names(), (Names{"check_ah", "new_ah"}));
  EXPECT_EQ(ibah_to_rvtah(ah)->log_pmtu, 8);
  seen.answer = -EPERM;
  EXPECT_EQ(rdma_modify_ah(ah, &attr), -EINVAL);
  EXPECT_EQ(names(), Names{"check_ah"});
  rdma_destroy_ah(ah);
}

TEST_F(DriverProvided, PicksTheProcessorOfACompletionQueue) {
  EXPECT_EQ(ibcq_to_rvtcq(cq)->comp_vector_cpu, 0);
  device->driver_f.comp_vect_cpu_lookup = [](rvt_dev_info*, int vector) { return 40 + vector; };
  EXPECT_EQ(ibcq_to_rvtcq(make_cq(4))->comp_vector_cpu, 40);
}

}  // namespace
}  // namespace hcasim::rvt
