// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Data between two queue pairs of one node: copied by the driver, or taken by the adapter and a
// switch. Either way each byte arrives, and nothing beside it changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hcasim/rvt/verbs.hpp"
#include "sim/system/system.hpp"

namespace hcasim {
namespace {

constexpr std::uint64_t kMemory = 256 * 1024;
constexpr std::uint64_t kTo = 128 * 1024;  // what is sent lies before, what arrives from here on

class LoopbackData : public testing::TestWithParam<bool> {
 protected:
  LoopbackData()
      : system_(sim::load_config({.settings = settings(GetParam())}), {{"a", "b"}, 1, true}) {}

  static std::vector<std::string> settings(bool on_wire) {
    if (!on_wire) return {};
    return {"rvt.loopback_on_wire=true", "fabric.topology=switch"};
  }
  host::CpuPort& cpu() { return system_.node(0).host().cpu(); }

  void make_objects() {
    rvt::ib_device* device = rvt::rvt_ib_device(system_.node(0).device());
    pd_ = rvt::ib_alloc_pd(device);
    rvt::ib_cq_init_attr cq;
    cq.cqe = 64;
    cq_ = rvt::ib_create_cq(device, nullptr, nullptr, nullptr, &cq);
    memory_ = cpu().allocate(kMemory, 4096);
    mr_ = rvt::ib_reg_user_mr(
        pd_, memory_, kMemory, memory_,
        rvt::IB_ACCESS_LOCAL_WRITE | rvt::IB_ACCESS_REMOTE_WRITE | rvt::IB_ACCESS_REMOTE_READ);
    for (rvt::ib_qp*& qp : qps_) {
      rvt::ib_qp_init_attr init;
      init.send_cq = init.recv_cq = cq_;
      init.cap = {8, 8, 2, 2, 0};
      qp = rvt::ib_create_qp(pd_, &init);
      ASSERT_FALSE(rvt::IS_ERR(qp));
    }
    for (std::size_t i = 0; i < 2; ++i) raise(qps_[i], qps_[1 - i]->qp_num);
  }

  void raise(rvt::ib_qp* qp, std::uint32_t peer) {
    rvt::ib_qp_attr attr;
    attr.port_num = 1;
    attr.qp_access_flags = rvt::IB_ACCESS_REMOTE_WRITE | rvt::IB_ACCESS_REMOTE_READ;
    attr.dest_qp_num = peer;
    attr.max_rd_atomic = attr.max_dest_rd_atomic = 4;
    attr.min_rnr_timer = 1;
    attr.timeout = 14;
    attr.retry_cnt = attr.rnr_retry = 7;
    const sim::NodeAddress& own = system_.node(0).address();
    attr.ah_attr.grh.sgid = attr.ah_attr.grh.dgid = own.gid;
    attr.ah_attr.roce.smac = attr.ah_attr.roce.dmac = own.mac;
    using namespace rvt;
    const std::array<std::pair<ib_qp_state, int>, 3> moves = {
        {{IB_QPS_INIT, IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX | IB_QP_PORT},
         {IB_QPS_RTR, IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
                          IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER},
         {IB_QPS_RTS, IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_SQ_PSN |
                          IB_QP_MAX_QP_RD_ATOMIC}}};
    for (const auto& [state, mask] : moves) {
      attr.qp_state = state;
      ASSERT_EQ(ib_modify_qp(qp, &attr, IB_QP_STATE | mask), 0);
    }
  }

  // All memory anew: each byte tells where it lies, and which round it is.
  std::vector<std::uint8_t> fill(std::uint32_t round) {
    std::vector<std::uint8_t> bytes(kMemory);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 256 + round * 31);
    }
    cpu().write(memory_, bytes.data(), bytes.size());
    return bytes;
  }

  void transfer(rvt::ib_wr_opcode opcode, std::uint32_t length) {
    const bool reads = opcode == rvt::IB_WR_RDMA_READ;
    const std::array<rvt::ib_sge, 2> from = split(reads ? kTo : 0, length);
    const std::array<rvt::ib_sge, 2> to = split(kTo, length);
    rvt::ib_recv_wr recv;
    recv.sg_list = to.data();
    recv.num_sge = 2;
    const bool takes = opcode == rvt::IB_WR_SEND;
    if (takes) {
      ASSERT_EQ(rvt::ib_post_recv(qps_[1], &recv, nullptr), 0);
    }
    rvt::ib_rdma_wr wr;
    wr.wr.sg_list = from.data();
    wr.wr.num_sge = 2;
    wr.wr.opcode = opcode;
    wr.wr.send_flags = rvt::IB_SEND_SIGNALED;
    wr.remote_addr = memory_ + (reads ? 0 : kTo);
    wr.rkey = mr_->rkey;
    ASSERT_EQ(rvt::ib_post_send(qps_[0], &wr.wr, nullptr), 0);
    await(takes ? 2 : 1);
  }
  // Two elements that lie one behind the other: a third and the rest.
  std::array<rvt::ib_sge, 2> split(std::uint64_t offset, std::uint32_t length) const {
    return {{{memory_ + offset, length / 3, mr_->lkey},
             {memory_ + offset + length / 3, length - length / 3, mr_->lkey}}};
  }
  void await(int completions) {
    rvt::ib_wc wc;
    for (int i = 0; i < 10'000 && completions != 0; ++i) {
      system_.node(0).host().tasks().sleep_until(cpu().now() + hw::kMicrosecond);
      while (rvt::ib_poll_cq(cq_, 1, &wc) == 1) {
        EXPECT_EQ(wc.status, rvt::IB_WC_SUCCESS);
        --completions;
      }
    }
    EXPECT_EQ(completions, 0);
  }
  void release() {
    for (rvt::ib_qp* qp : qps_) EXPECT_EQ(rvt::ib_destroy_qp(qp), 0);
    EXPECT_EQ(rvt::ib_destroy_cq(cq_), 0);
    EXPECT_EQ(rvt::ib_dereg_mr(mr_), 0);
    EXPECT_EQ(rvt::ib_dealloc_pd(pd_), 0);
  }

  sim::System system_;
  rvt::ib_pd* pd_ = nullptr;
  rvt::ib_cq* cq_ = nullptr;
  rvt::ib_mr* mr_ = nullptr;
  std::array<rvt::ib_qp*, 2> qps_{};
  std::uint64_t memory_ = 0;
};

TEST_P(LoopbackData, ArrivesWholeAndNothingElseChanges) {
  ASSERT_EQ(system_.start_devices(), 0);
  system_.run_task(0, [&] {
    make_objects();
    std::uint32_t round = 0;
    for (const auto opcode : {rvt::IB_WR_SEND, rvt::IB_WR_RDMA_WRITE, rvt::IB_WR_RDMA_READ}) {
      for (const std::uint32_t length : {1u, 64u, 4095u, 4097u, 100'000u}) {
        std::vector<std::uint8_t> expected = fill(++round);
        transfer(opcode, length);
        std::copy_n(expected.begin(), length, expected.begin() + kTo);
        std::vector<std::uint8_t> found(kMemory);
        cpu().read(memory_, found.data(), found.size());
        EXPECT_TRUE(found == expected) << opcode << ' ' << length;
      }
    }
    release();
  });
  const auto loop = rvt::rvt_count_loopback(system_.node(0).device());
  EXPECT_EQ(loop.n_loop_pkts, GetParam() ? 0u : 15u);
}

INSTANTIATE_TEST_SUITE_P(ByDriverAndByWire, LoopbackData, testing::Bool());

}  // namespace
}  // namespace hcasim
