// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "node.hpp"

#include <stdexcept>

namespace hw = hcasim::hw;
namespace rvt = hcasim::rvt;

namespace {

constexpr hw::Time kPollInterval = 50 * hw::kNanosecond;
constexpr hw::Time kPatience = hw::kMillisecond;
constexpr std::uint32_t kFirstPsn = 100;

// Verbs that make an object return a negative errno in place of its address when they fail.
template <typename T>
T* made(T* object, const std::string& what) {
  require(!rvt::IS_ERR(object), what + " was refused");
  return object;
}

}  // namespace

void require(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

Node::Node(hcasim::sim::NodeSystem& system)
    : system_(system), port_(system.host().cpu()), pause_(port_.make_wait_point()) {}

void Node::create() {
  rvt::ib_device* device = rvt::rvt_ib_device(system_.device());
  pd_ = made(rvt::ib_alloc_pd(device), "the protection domain");

  memory_ = port_.allocate(kBytes, 4096);
  mr_ = made(rvt::ib_reg_user_mr(pd_, memory_, kBytes, memory_,
                                 rvt::IB_ACCESS_LOCAL_WRITE | rvt::IB_ACCESS_REMOTE_WRITE),
             "the memory region");

  rvt::ib_cq_init_attr cq;
  cq.cqe = 16;
  cq_ = made(rvt::ib_create_cq(device, nullptr, nullptr, nullptr, &cq), "the completion queue");

  rvt::ib_qp_init_attr qp;
  qp.send_cq = qp.recv_cq = cq_;
  qp.cap.max_send_wr = qp.cap.max_recv_wr = 8;
  qp.cap.max_send_sge = qp.cap.max_recv_sge = 1;
  qp_ = made(rvt::ib_create_qp(pd_, &qp), "the queue pair");
}

// RESET to INIT to RTR (ready to receive) to RTS (ready to send). Programs tell each other their
// queue pair numbers and addresses by other means, often TCP; here they just look.
void Node::connect(const Node& peer) {
  rvt::ib_qp_attr attr;
  attr.qp_state = rvt::IB_QPS_INIT;
  attr.port_num = 1;
  attr.qp_access_flags = rvt::IB_ACCESS_REMOTE_WRITE;
  int error = rvt::ib_modify_qp(
      qp_, &attr,
      rvt::IB_QP_STATE | rvt::IB_QP_PKEY_INDEX | rvt::IB_QP_PORT | rvt::IB_QP_ACCESS_FLAGS);
  require(error == 0, "the step to INIT was refused");

  attr.qp_state = rvt::IB_QPS_RTR;
  attr.path_mtu = rvt::IB_MTU_1024;
  attr.dest_qp_num = peer.qp_->qp_num;
  attr.rq_psn = kFirstPsn;
  attr.max_dest_rd_atomic = 1;
  attr.min_rnr_timer = 12;  // 0.64 ms
  attr.ah_attr.grh.sgid = system_.address().gid;
  attr.ah_attr.grh.dgid = peer.system_.address().gid;
  attr.ah_attr.roce.smac = system_.address().mac;
  attr.ah_attr.roce.dmac = peer.system_.address().mac;
  error = rvt::ib_modify_qp(qp_, &attr,
                            rvt::IB_QP_STATE | rvt::IB_QP_AV | rvt::IB_QP_PATH_MTU |
                                rvt::IB_QP_DEST_QPN | rvt::IB_QP_RQ_PSN |
                                rvt::IB_QP_MAX_DEST_RD_ATOMIC | rvt::IB_QP_MIN_RNR_TIMER);
  require(error == 0, "the step to RTR was refused");

  attr.qp_state = rvt::IB_QPS_RTS;
  attr.sq_psn = kFirstPsn;
  attr.timeout = 14;  // 67 ms
  attr.retry_cnt = 7;
  attr.rnr_retry = 7;
  attr.max_rd_atomic = 1;
  error =
      rvt::ib_modify_qp(qp_, &attr,
                        rvt::IB_QP_STATE | rvt::IB_QP_TIMEOUT | rvt::IB_QP_RETRY_CNT |
                            rvt::IB_QP_RNR_RETRY | rvt::IB_QP_SQ_PSN | rvt::IB_QP_MAX_QP_RD_ATOMIC);
  require(error == 0, "the step to RTS was refused");
}

void Node::destroy() {
  require(rvt::ib_destroy_qp(qp_) == 0, "the queue pair cannot be destroyed");
  require(rvt::ib_destroy_cq(cq_) == 0, "the completion queue cannot be destroyed");
  require(rvt::ib_dereg_mr(mr_) == 0, "the region cannot be deregistered");
  require(rvt::ib_dealloc_pd(pd_) == 0, "the protection domain is still in use");
  port_.release(memory_);
}

void Node::post_receive(std::uint32_t offset, std::uint32_t length) {
  const rvt::ib_sge buffer{memory_ + offset, length, mr_->lkey};
  rvt::ib_recv_wr wr;
  wr.sg_list = &buffer;
  wr.num_sge = 1;
  require(rvt::ib_post_recv(qp_, &wr, nullptr) == 0, "the receive was refused");
}

void Node::post_send(std::uint32_t offset, std::uint32_t length) {
  const rvt::ib_sge buffer{memory_ + offset, length, mr_->lkey};
  rvt::ib_send_wr wr;
  wr.opcode = rvt::IB_WR_SEND;
  wr.send_flags = rvt::IB_SEND_SIGNALED;
  wr.sg_list = &buffer;
  wr.num_sge = 1;
  require(rvt::ib_post_send(qp_, &wr, nullptr) == 0, "the send was refused");
}

void Node::post_write(std::uint32_t offset, std::uint32_t length, const Node& peer,
                      std::uint32_t peer_offset) {
  const rvt::ib_sge buffer{memory_ + offset, length, mr_->lkey};
  rvt::ib_rdma_wr rdma;
  rdma.wr.opcode = rvt::IB_WR_RDMA_WRITE;
  rdma.wr.send_flags = rvt::IB_SEND_SIGNALED;
  rdma.wr.sg_list = &buffer;
  rdma.wr.num_sge = 1;
  rdma.remote_addr = peer.memory_ + peer_offset;
  rdma.rkey = peer.mr_->rkey;
  require(rvt::ib_post_send(qp_, &rdma.wr, nullptr) == 0, "the write was refused");
}

rvt::ib_wc Node::await_completion() {
  const hw::Time deadline = now() + kPatience;
  rvt::ib_wc wc;
  while (rvt::ib_poll_cq(cq_, 1, &wc) == 0) {
    require(now() < deadline, "no completion within a millisecond");
    pause_->wait(kPollInterval);  // nobody signals it: simulated time passes
  }
  require(wc.status == rvt::IB_WC_SUCCESS, "a completion with an error");
  return wc;
}

void Node::write(std::uint32_t offset, const std::string& text) {
  port_.write(memory_ + offset, text.data(), text.size());
}

std::string Node::read(std::uint32_t offset, std::size_t length) {
  std::string text(length, '\0');
  port_.read(memory_ + offset, text.data(), length);
  return text;
}
