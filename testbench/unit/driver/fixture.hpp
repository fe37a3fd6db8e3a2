// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "hcasim/hw/wqe.hpp"
#include "hcasim/rvt/rdma_vt.hpp"
#include "hcasim/rvt/verbs.hpp"
#include "support/call_from/data_verbs.hpp"
#include "support/call_from/fake_entrance.hpp"
#include "support/fake_host.hpp"

/// A device on a fake machine, and short names for what tests do with it.
namespace hcasim::rvt {

using testing_support::FakeHost;

/// Masks of the moves of an RC queue pair.
inline constexpr int kInitMask = IB_QP_STATE | IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX | IB_QP_PORT;
inline constexpr int kRtrMask = IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN |
                                IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
inline constexpr int kRtsMask = IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
                                IB_QP_MAX_QP_RD_ATOMIC | IB_QP_SQ_PSN;

/// What a move of a queue pair of this type has to carry.
inline int mask_of(ib_qp_type type, ib_qp_state to) {
  const bool connected = type == IB_QPT_RC || type == IB_QPT_UC;
  switch (to) {
    case IB_QPS_INIT:
      if (connected) return kInitMask;
      return IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_QKEY |
             (type == IB_QPT_UD ? int{IB_QP_PORT} : 0);
    case IB_QPS_RTR:
      if (type == IB_QPT_RC) return kRtrMask;
      return connected ? kRtrMask & ~(IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER) : IB_QP_STATE;
    case IB_QPS_RTS:
      return type == IB_QPT_RC ? kRtsMask : IB_QP_STATE | IB_QP_SQ_PSN;
    default:
      return IB_QP_STATE;
  }
}

/// Remembers events and notifications.
struct Seen {
  std::vector<ib_event_type> events;
  std::vector<void*> elements;
  int completions = 0;

  static void event(ib_event* event, void* self) {
    static_cast<Seen*>(self)->events.push_back(event->event);
    static_cast<Seen*>(self)->elements.push_back(event->element.qp);
  }
  static void completion(ib_cq*, void* self) { ++static_cast<Seen*>(self)->completions; }
};

class DriverTest : public testing::Test, protected support::DataVerbs {
 protected:
  static constexpr std::uint64_t kBufferBytes = 64 * 1024;

  explicit DriverTest(rvt_driver_params parameters = {}) : params(parameters) {}

  void SetUp() override { start(); }
  void TearDown() override { stop(); }

  void start() {
    device = rvt_alloc_device(host, params);
    ASSERT_EQ(rvt_register_device(device.get()), 0);
    ibdev = rvt_ib_device(device.get());
    pd = ib_alloc_pd(ibdev);
    buffer = host.allocate(kBufferBytes, 4096);
    mr = ib_reg_user_mr(pd, buffer, kBufferBytes, buffer,
                        IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ);
    ASSERT_FALSE(IS_ERR(mr));
    cq = make_cq(64);
  }

  void stop() {
    host.answers = true;
    host.on_command = nullptr;
    host.set_may_wait(true);
    host.settle();
    for (ib_qp* qp : qps) EXPECT_EQ(ib_destroy_qp(qp), 0);
    qps.clear();
    for (ib_srq* srq : srqs) EXPECT_EQ(ib_destroy_srq(srq), 0);
    srqs.clear();
    for (ib_cq* each : cqs) EXPECT_EQ(ib_destroy_cq(each), 0);
    cqs.clear();
    if (mr != nullptr) {
      EXPECT_EQ(ib_dereg_mr(mr), 0);
    }
    mr = nullptr;
    if (pd != nullptr) {
      EXPECT_EQ(ib_dealloc_pd(pd), 0);
    }
    pd = nullptr;
    device.reset();
  }

  ib_cq* make_cq(unsigned cqe) {
    ib_cq_init_attr attr;
    attr.cqe = cqe;
    ib_cq* made = ib_create_cq(ibdev, Seen::completion, Seen::event, &cq_seen, &attr);
    EXPECT_FALSE(IS_ERR(made));
    cqs.push_back(made);
    return made;
  }

  ib_qp_init_attr init_attr() {
    ib_qp_init_attr attr;
    attr.event_handler = Seen::event;
    attr.qp_context = &qp_seen;
    attr.send_cq = cq;
    attr.recv_cq = cq;
    attr.cap = {4, 4, 2, 2, 64};
    return attr;
  }

  ib_qp* make_qp(ib_qp_init_attr attr) {
    ib_qp* qp = ib_create_qp(pd, &attr);
    if (!IS_ERR(qp)) qps.push_back(qp);
    return qp;
  }
  ib_qp* make_qp() { return make_qp(init_attr()); }
  int create_error(const ib_qp_init_attr& attr) {
    ib_qp* qp = make_qp(attr);
    return IS_ERR(qp) ? PTR_ERR(qp) : 0;
  }
  ib_qp_init_attr init_attr_of(ib_qp_type type, std::uint32_t port = 1) {
    ib_qp_init_attr attr = init_attr();
    attr.qp_type = type;
    attr.port_num = port;
    return attr;
  }
  ib_srq* make_srq() {
    ib_srq_init_attr attr;
    attr.attr = {4, 2, 0};
    ib_srq* srq = ib_create_srq(pd, &attr);
    EXPECT_FALSE(IS_ERR(srq));
    srqs.push_back(srq);
    return srq;
  }
  void destroy(ib_qp* qp) {
    std::erase(qps, qp);
    EXPECT_EQ(ib_destroy_qp(qp), 0);
  }

  static ib_qp_attr path() {
    ib_qp_attr attr;
    attr.port_num = 1;
    attr.qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC;
    attr.path_mtu = IB_MTU_1024;
    attr.dest_qp_num = 0x77;
    attr.rq_psn = 0x100;
    attr.sq_psn = 0x200;
    attr.max_dest_rd_atomic = 4;
    attr.max_rd_atomic = 4;
    attr.min_rnr_timer = 12;
    attr.timeout = 14;
    attr.retry_cnt = 7;
    attr.rnr_retry = 6;
    return attr;
  }
  static int modify(ib_qp* qp, ib_qp_state state, int mask) {
    ib_qp_attr attr = path();
    attr.qp_state = state;
    return ib_modify_qp(qp, &attr, mask);
  }
  static int to_state(ib_qp* qp, ib_qp_state state) {
    return modify(qp, state, mask_of(qp->qp_type, state));
  }
  /// rvt_modify_qp itself, with what `change` does to the usual attributes.
  template <typename Change>
  static int modify_with(ib_qp* qp, ib_qp_state state, int mask, Change change) {
    ib_qp_attr attr = path();
    attr.qp_state = state;
    change(attr);
    return rvt_modify_qp(qp, &attr, mask, nullptr);
  }
  ib_qp* make_qp_in(ib_qp_state state) { return make_qp_in(state, init_attr()); }
  ib_qp* make_qp_in(ib_qp_state state, ib_qp_init_attr attr) {
    ib_qp* qp = make_qp(attr);
    bring(qp, state);
    return qp;
  }
  static void bring(ib_qp* qp, ib_qp_state state) {
    if (state == IB_QPS_RESET) return;
    EXPECT_EQ(to_state(qp, IB_QPS_INIT), 0);
    if (state == IB_QPS_INIT) return;
    if (state == IB_QPS_ERR) {
      EXPECT_EQ(to_state(qp, IB_QPS_ERR), 0);
      return;
    }
    EXPECT_EQ(to_state(qp, IB_QPS_RTR), 0);
    if (state == IB_QPS_RTR) return;
    EXPECT_EQ(to_state(qp, IB_QPS_RTS), 0);
    if (state == IB_QPS_SQD) {
      EXPECT_EQ(to_state(qp, IB_QPS_SQD), 0);
    }
  }
  /// States of an RC queue pair that bring() leads to.
  static constexpr ib_qp_state kStates[] = {IB_QPS_RESET, IB_QPS_INIT, IB_QPS_RTR,
                                            IB_QPS_RTS,   IB_QPS_SQD,  IB_QPS_ERR};

  static rvt_qp* rvt(ib_qp* qp) { return ibqp_to_rvtqp(qp); }
  static std::uint32_t cqn(ib_cq* queue) { return ibcq_to_rvtcq(queue)->cqn; }
  ib_sge sge(std::uint32_t length, std::uint64_t offset = 0) const {
    return {buffer + offset, length, mr->lkey};
  }

  int post_send(ib_qp* qp, std::uint64_t wr_id, std::uint32_t flags = IB_SEND_SIGNALED) {
    ib_send_wr wr;
    const ib_sge data = sge(64);
    wr.wr_id = wr_id;
    wr.sg_list = &data;
    wr.num_sge = 1;
    wr.send_flags = flags;
    return ib_post_send(qp, &wr, &bad_send);
  }
  int post_recv(ib_qp* qp, std::uint64_t wr_id) {
    ib_recv_wr wr;
    const ib_sge data = sge(64);
    wr.wr_id = wr_id;
    wr.sg_list = &data;
    wr.num_sge = 1;
    return ib_post_recv(qp, &wr, &bad_recv);
  }

  /// The adapter completes the send in a slot.
  bool complete_send(ib_qp* qp, std::uint32_t slot, hw::WcStatus status = hw::WcStatus::kSuccess) {
    hw::Cqe cqe{};
    cqe.qpn = qp->qp_num;
    cqe.wqe_index = slot;
    cqe.status = status;
    cqe.opcode = hw::WcOpcode::kSend;
    return host.complete(cqn(qp->send_cq), cqe);
  }
  /// The adapter takes the next receive and completes it.
  bool complete_recv(ib_qp* qp, std::uint64_t wr_id, std::uint32_t bytes = 64) {
    take_receive(qp);
    hw::Cqe cqe{};
    cqe.wr_id = wr_id;
    cqe.qpn = qp->qp_num;
    cqe.src_qp = 0x77;
    cqe.byte_len = bytes;
    cqe.opcode = hw::WcOpcode::kRecv;
    return host.complete(cqn(qp->recv_cq), cqe);
  }
  void take_receive(ib_qp* qp) {
    const hw::QpContext& context = host.qps.at(qp->qp_num);
    std::uint32_t& tail = host.tails[qp->qp_num];
    tail = tail + 1 == context.rq_size ? 0 : tail + 1;
    const hw::TailRecord record{tail, 0};
    host.write(context.tail_record, &record, sizeof record);
  }

  std::vector<ib_wc> poll(ib_cq* queue, int most = 64) {
    std::vector<ib_wc> wc(static_cast<std::size_t>(most));
    const int polled = ib_poll_cq(queue, most, wc.data());
    wc.resize(static_cast<std::size_t>(polled));
    return wc;
  }
  std::vector<ib_wc> poll() { return poll(cq); }
  static std::vector<std::uint64_t> ids(const std::vector<ib_wc>& wc) {
    std::vector<std::uint64_t> found;
    for (const ib_wc& each : wc) found.push_back(each.wr_id);
    return found;
  }
  /// Both locks of rvt_error_qp.
  static int error_qp(ib_qp* qp, ib_wc_status err = IB_WC_WR_FLUSH_ERR) {
    const SpinGuard receive(rvt(qp)->r_lock);
    const SpinGuard send(rvt(qp)->s_lock);
    return rvt_error_qp(rvt(qp), err);
  }
  static ib_qp_attr query(ib_qp* qp) {
    ib_qp_attr attr;
    ib_qp_init_attr init;
    EXPECT_EQ(ib_query_qp(qp, &attr, 0, &init), 0);
    return attr;
  }

  /// The WQE in a slot of the send ring.
  hw::SendWqeControl control(ib_qp* qp, std::uint32_t slot) {
    hw::SendWqeControl found;
    host.read(rvt(qp)->s_ring + std::uint64_t{slot} * rvt(qp)->s_stride, &found, sizeof found);
    return found;
  }
  template <typename T>
  T in_send_slot(ib_qp* qp, std::uint32_t slot, std::uint32_t offset) {
    T found;
    host.read(rvt(qp)->s_ring + std::uint64_t{slot} * rvt(qp)->s_stride + offset, &found,
              sizeof found);
    return found;
  }

  FakeHost host;
  support::FakeEntrance entrance{host};
  rvt_driver_params params;
  rvt_device_ptr device;
  ib_device* ibdev = nullptr;
  ib_pd* pd = nullptr;
  ib_mr* mr = nullptr;
  ib_cq* cq = nullptr;
  std::uint64_t buffer = 0;
  std::vector<ib_qp*> qps;
  std::vector<ib_srq*> srqs;
  std::vector<ib_cq*> cqs;
  Seen cq_seen;
  Seen qp_seen;
  const ib_send_wr* bad_send = nullptr;
  const ib_recv_wr* bad_recv = nullptr;
};

}  // namespace hcasim::rvt
