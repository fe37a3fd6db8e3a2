// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <hcasim/model/sim/system/system.hpp>
#include <hcasim/rvt/verbs.hpp>
#include <hcasim/sim/config.hpp>
using namespace hcasim;
using namespace hcasim::rvt;

constexpr int kToInit = IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS;
constexpr int kToRtr = IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
                       IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
constexpr int kToRts = IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
                       IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC;

void on_event(ib_event* event, void*) {
  std::printf("event %d\n", event->event);
}

void tour(sim::NodeSystem& node) {  // in a task: what follows may wait in simulated time
  hw::HostPort& host = node.host().cpu();
  ib_device* device = rvt_ib_device(node.device());
  ib_pd* pd = ib_alloc_pd(device);
  const std::uint64_t memory = host.allocate(4096, 4096);
  ib_mr* mr = ib_reg_user_mr(pd, memory, 4096, memory, IB_ACCESS_LOCAL_WRITE);
  const ib_cq_init_attr cq_attr{.cqe = 16};
  ib_cq* cq = ib_create_cq(device, nullptr, on_event, nullptr, &cq_attr);
  ib_qp_init_attr init{
      .event_handler = on_event, .send_cq = cq, .recv_cq = cq, .cap = {4, 4, 1, 1}};
  ib_qp* qps[] = {ib_create_qp(pd, &init), ib_create_qp(pd, &init)};
  if (IS_ERR(mr) || IS_ERR(cq) || IS_ERR(qps[0]) || IS_ERR(qps[1])) return;

  for (int i : {0, 1}) {  // to each other: INIT, RTR, RTS
    ib_qp_attr attr{.qp_state = IB_QPS_INIT, .port_num = 1};
    int error = ib_modify_qp(qps[i], &attr, kToInit);
    attr.qp_state = IB_QPS_RTR;
    attr.path_mtu = IB_MTU_1024;
    attr.dest_qp_num = qps[1 - i]->qp_num;
    attr.ah_attr.grh.sgid = attr.ah_attr.grh.dgid = node.address().gid;  // its own address
    error |= ib_modify_qp(qps[i], &attr, kToRtr);
    attr.qp_state = IB_QPS_RTS;
    error |= ib_modify_qp(qps[i], &attr, kToRts);
    if (error != 0) return;
  }

  const ib_sge from{memory, 64, mr->lkey}, to{memory + 2048, 32, mr->lkey};  // too short for it
  const ib_recv_wr receive{.wr_id = 1, .sg_list = &to, .num_sge = 1};
  ib_send_wr send{.wr_id = 2, .sg_list = &from, .num_sge = 1, .opcode = IB_WR_SEND};
  const ib_send_wr* bad = nullptr;
  if (ib_post_recv(qps[1], &receive, nullptr) != 0) return;
  for (; send.wr_id < 4; ++send.wr_id) {
    if (ib_post_send(qps[0], &send, &bad) != 0) return;  // `bad` is then what was refused
  }
  ib_wc wc;
  while (ib_poll_cq(cq, 1, &wc) == 1) {  // 1: too long; 9: the peer refused it; 5: flushed
    std::printf("request %d of QP %u: status %d\n", int(wc.wr_id), wc.qp->qp_num, wc.status);
  }
  for (ib_qp* qp : qps) ib_destroy_qp(qp);
  ib_destroy_cq(cq), ib_dereg_mr(mr), ib_dealloc_pd(pd), host.release(memory);
}

int sc_main(int, char**) {
  sim::System system(sim::load_config({}), {{"node"}});
  if (system.start_devices() != 0) return 1;
  system.run_task(0, [&] { tour(system.node(0)); });
  return 0;
}
