// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/replay/node_objects.hpp"

#include "sim/replay/device_limits.hpp"

namespace hcasim::sim {

std::uint32_t ObjectDirectory::index_of(NameId node) const {
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].name == node) return i;
  }
  return 0;
}

std::uint32_t ObjectDirectory::index_of(const NodeObjects& objects) const {
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].objects == &objects) return i;
  }
  return 0;
}

NodeObjects::NodeObjects(NodeSystem& node, ObjectDirectory& directory)
    : node_(node), directory_(directory) {}

// Made at its first use.
rvt::ib_pd* NodeObjects::pd() {
  if (pd_ == nullptr) pd_ = rvt::ib_alloc_pd(rvt::rvt_ib_device(node_.device()));
  return pd_;
}

int NodeObjects::make_cq(NameId name, std::uint32_t cqe, std::uint32_t vector) {
  rvt::ib_cq_init_attr attr;
  attr.cqe = cqe;
  attr.comp_vector = static_cast<int>(vector);
  rvt::ib_cq* cq =
      rvt::ib_create_cq(rvt::rvt_ib_device(node_.device()), nullptr, nullptr, nullptr, &attr);
  if (rvt::IS_ERR(cq)) return rvt::PTR_ERR(cq);
  place(cqs_, name, &cq_store_.emplace_back(TraceCq{cq}));
  listener_->cq_created(name, cq_store_.back());
  return 0;
}

ControlResult NodeObjects::moderate_cq(const Operation& operation) {
  const auto count = static_cast<std::uint16_t>(operation.value(Arg::kCqCount));
  const auto period = static_cast<std::uint16_t>(operation.value(Arg::kCqPeriod));
  return {rvt::rdma_set_cq_moderation(cq(operation.object)->cq, count, period), "modify_cq"};
}

int NodeObjects::make_mr(NameId name, std::uint64_t length, std::uint32_t access, bool iova_given,
                         std::uint64_t iova) {
  pd();
  const std::uint64_t host = node_.host().cpu().allocate(length == 0 ? 1 : length, 4096);
  if (host == 0) return -12;
  const std::uint64_t address = iova_given ? iova : host;
  rvt::ib_mr* mr = rvt::ib_reg_user_mr(pd_, host, length, address, access);
  if (rvt::IS_ERR(mr)) return rvt::PTR_ERR(mr);
  place(mrs_, name, &mr_store_.emplace_back(TraceMr{mr, address, host, mr->lkey, length}));
  return 0;
}

// What a program does at its start: the memory is mapped once, and each REG_MR registers it.
int NodeObjects::alloc_mr(NameId name, std::uint64_t length) {
  pd();
  const std::uint64_t page = pd_->device->attrs.page_size_cap;
  const std::uint64_t host = node_.host().cpu().allocate(length == 0 ? 1 : length, page);
  if (host == 0) return -12;
  const auto pages = static_cast<std::uint32_t>((length + page - 1) / page);
  rvt::ib_mr* mr = rvt::ib_alloc_mr(pd_, rvt::IB_MR_TYPE_MEM_REG, pages);
  if (rvt::IS_ERR(mr)) return rvt::PTR_ERR(mr);
  const rvt::scatterlist all{host, static_cast<std::uint32_t>(length)};
  rvt::ib_map_mr_sg(mr, &all, 1, nullptr, static_cast<unsigned>(page));
  place(mrs_, name, &mr_store_.emplace_back(TraceMr{mr, host, host, mr->lkey, length}));
  return 0;
}

ControlResult NodeObjects::make_qp(const Operation& operation, NameId name, NameId send_cq,
                                   NameId recv_cq) {
  pd();
  rvt::ib_qp_init_attr attr;
  attr.send_cq = cq(send_cq)->cq;
  attr.recv_cq = cq(recv_cq)->cq;
  attr.cap.max_send_wr = static_cast<std::uint32_t>(operation.value(Arg::kMaxSendWr));
  attr.cap.max_recv_wr = static_cast<std::uint32_t>(operation.value(Arg::kMaxRecvWr));
  attr.cap.max_send_sge = static_cast<std::uint32_t>(operation.value(Arg::kMaxSendSge));
  attr.cap.max_recv_sge = static_cast<std::uint32_t>(operation.value(Arg::kMaxRecvSge));
  attr.cap.max_inline_data = static_cast<std::uint32_t>(operation.value(Arg::kMaxInlineData));
  const bool all = operation.value(Arg::kSqSigAll) != 0;
  attr.sq_sig_type = all ? rvt::IB_SIGNAL_ALL_WR : rvt::IB_SIGNAL_REQ_WR;
  attr.qp_type = static_cast<rvt::ib_qp_type>(operation.value(Arg::kType));
  const auto shared = static_cast<NameId>(operation.value(Arg::kSrq));
  const TraceSrq* const pool = operation.has(Arg::kSrq) ? srq(shared) : nullptr;
  attr.srq = pool != nullptr ? pool->srq : nullptr;
  const std::uint32_t send_wr = attr.cap.max_send_wr;
  const std::uint32_t recv_wr = attr.cap.max_recv_wr;
  rvt::ib_qp* qp = rvt::ib_create_qp(pd_, &attr);
  if (rvt::IS_ERR(qp)) {
    return {rvt::PTR_ERR(qp), "create_qp", beyond_limits(attr.cap, pd_->device->attrs)};
  }
  place(qps_, name, &qp_store_.emplace_back(TraceQp{qp, qp->qp_num, 0, send_wr, recv_wr, all}));
  if (pool != nullptr) qp_store_.back().srq = shared;
  has_unreliable_ = has_unreliable_ || !qp_store_.back().reliable();
  listener_->qp_created(name, qp_store_.back());
  return {};
}

void NodeObjects::set_path(rvt::ib_qp_attr& attr, std::uint32_t peer) const {
  const NodeAddress& remote = directory_.node(peer).node_.address();
  attr.ah_attr.grh.sgid = node_.address().gid;
  attr.ah_attr.grh.dgid = remote.gid;
  attr.ah_attr.grh.traffic_class = static_cast<std::uint8_t>(node_.config().fabric.traffic_class);
  attr.ah_attr.roce.smac = node_.address().mac;
  attr.ah_attr.roce.dmac = remote.mac;
}

int NodeObjects::to_init(TraceQp& qp, const Operation& operation) {
  rvt::ib_qp_attr attr;
  attr.qp_state = rvt::IB_QPS_INIT;
  attr.port_num = 1;
  attr.qp_access_flags = static_cast<std::uint32_t>(operation.value(Arg::kAccess));
  attr.qkey = static_cast<std::uint32_t>(operation.value(Arg::kQkey));
  const bool datagram = qp.qp->qp_type == rvt::IB_QPT_UD;
  return rvt::ib_modify_qp(qp.qp, &attr,
                           rvt::IB_QP_STATE | rvt::IB_QP_PKEY_INDEX | rvt::IB_QP_PORT |
                               (datagram ? rvt::IB_QP_QKEY : rvt::IB_QP_ACCESS_FLAGS));
}

// Where the sends of a UD QP go from now on.
int NodeObjects::send_to(TraceQp& qp, std::uint32_t peer, std::uint32_t peer_qpn) {
  rvt::ib_qp_attr attr;
  set_path(attr, peer);
  return send_by(qp, attr.ah_attr, peer_qpn);
}

int NodeObjects::send_by(TraceQp& qp, const rvt::rdma_ah_attr& path, std::uint32_t remote_qpn) {
  rvt::ib_ah* ah = rvt::rdma_create_ah(pd_, &path);
  if (rvt::IS_ERR(ah)) return rvt::PTR_ERR(ah);
  if (qp.ah != nullptr) rvt::rdma_destroy_ah(qp.ah);
  qp.ah = ah;
  qp.remote_qpn = remote_qpn;
  return 0;
}

ControlResult NodeObjects::connect_datagram(TraceQp& qp, const ConnectSide& side,
                                            std::uint32_t peer_qpn) {
  int error = send_to(qp, side.peer_node, peer_qpn);
  if (error != 0) return {error, "create_ah"};
  rvt::ib_qp_attr attr;
  attr.qp_state = rvt::IB_QPS_RTR;
  error = rvt::ib_modify_qp(qp.qp, &attr, rvt::IB_QP_STATE);
  if (error != 0) return {error, "modify_qp to RTR"};
  attr.qp_state = rvt::IB_QPS_RTS;
  attr.sq_psn = side.psn;
  return {rvt::ib_modify_qp(qp.qp, &attr, rvt::IB_QP_STATE | rvt::IB_QP_SQ_PSN),
          "modify_qp to RTS"};
}

ConnectSide NodeObjects::side_of(const Operation& connect, bool second) const {
  const auto psn = static_cast<std::uint32_t>(connect.value(Arg::kPsn));
  const auto peer_psn = static_cast<std::uint32_t>(connect.value(Arg::kPsnPeer));
  const bool both = connect.node == connect.peer_node;
  if (both ? !second : directory_.index_of(connect.node) == index()) {
    return {directory_.index_of(connect.peer_node), connect.object, connect.peer_object, psn,
            peer_psn};
  }
  return {directory_.index_of(connect.node), connect.peer_object, connect.object, peer_psn, psn};
}

ControlResult NodeObjects::connect_begin(const Operation& operation, const ConnectSide& side) {
  if (cq(default_cq_) == nullptr) {
    const int error =
        make_cq(default_cq_, static_cast<std::uint32_t>(operation.value(Arg::kCqe)), 0);
    if (error != 0) return {error, "create_cq"};
  }
  if (!has_default_mr()) {
    const int error = make_mr(default_mr_, operation.value(Arg::kMrLength), kAllAccess, false, 0);
    if (error != 0) return {error, "reg_mr"};
  }
  ControlResult made = make_qp(operation, side.qp, default_cq_, default_cq_);
  if (made.error != 0) return made;
  TraceQp& it = *qp(side.qp);
  it.peer_node = side.peer_node;
  return {to_init(it, operation), "modify_qp to INIT"};
}

ControlResult NodeObjects::connect_end(const Operation& operation, const ConnectSide& side,
                                       std::uint32_t peer_qpn) {
  TraceQp& it = *qp(side.qp);
  if (it.qp->qp_type == rvt::IB_QPT_UD) return connect_datagram(it, side, peer_qpn);
  rvt::ib_qp_attr attr;
  attr.qp_state = rvt::IB_QPS_RTR;
  set_path(attr, it.peer_node);
  std::uint32_t mtu_code = 1;
  while ((128u << mtu_code) < operation.value(Arg::kMtu)) ++mtu_code;
  attr.path_mtu = static_cast<rvt::ib_mtu>(mtu_code);
  attr.dest_qp_num = peer_qpn;
  attr.rq_psn = side.peer_psn;
  attr.max_dest_rd_atomic = static_cast<std::uint8_t>(operation.value(Arg::kMaxRdAtomic));
  attr.min_rnr_timer = static_cast<std::uint8_t>(operation.value(Arg::kMinRnrTimer));
  const int answers = it.reliable() ? rvt::IB_QP_MAX_DEST_RD_ATOMIC | rvt::IB_QP_MIN_RNR_TIMER : 0;
  int error = rvt::ib_modify_qp(it.qp, &attr,
                                rvt::IB_QP_STATE | rvt::IB_QP_AV | rvt::IB_QP_PATH_MTU |
                                    rvt::IB_QP_DEST_QPN | rvt::IB_QP_RQ_PSN | answers);
  if (error != 0) {
    return {error, "modify_qp to RTR", beyond_limits(attr.max_dest_rd_atomic, pd_->device->attrs)};
  }
  attr.qp_state = rvt::IB_QPS_RTS;
  attr.sq_psn = side.psn;
  attr.timeout = static_cast<std::uint8_t>(operation.value(Arg::kTimeout));
  attr.retry_cnt = static_cast<std::uint8_t>(operation.value(Arg::kRetryCnt));
  attr.rnr_retry = static_cast<std::uint8_t>(operation.value(Arg::kRnrRetry));
  attr.max_rd_atomic = static_cast<std::uint8_t>(operation.value(Arg::kMaxRdAtomic));
  const int retries = it.reliable() ? rvt::IB_QP_TIMEOUT | rvt::IB_QP_RETRY_CNT |
                                          rvt::IB_QP_RNR_RETRY | rvt::IB_QP_MAX_QP_RD_ATOMIC
                                    : 0;
  error = rvt::ib_modify_qp(it.qp, &attr, rvt::IB_QP_STATE | rvt::IB_QP_SQ_PSN | retries);
  return {error, "modify_qp to RTS"};
}

int NodeObjects::modify(const Operation& operation) {
  TraceQp& it = *qp(operation.object);
  rvt::ib_qp_attr attr;
  int mask = 0;
  const auto take = [&](Arg arg, rvt::ib_qp_attr_mask bit, auto& field) {
    if (!operation.has(arg)) return;
    field = static_cast<std::remove_reference_t<decltype(field)>>(operation.value(arg));
    mask |= bit;
  };
  take(Arg::kState, rvt::IB_QP_STATE, attr.qp_state);
  take(Arg::kCurState, rvt::IB_QP_CUR_STATE, attr.cur_qp_state);
  take(Arg::kAccess, rvt::IB_QP_ACCESS_FLAGS, attr.qp_access_flags);
  take(Arg::kSqPsn, rvt::IB_QP_SQ_PSN, attr.sq_psn);
  take(Arg::kRqPsn, rvt::IB_QP_RQ_PSN, attr.rq_psn);
  take(Arg::kTimeout, rvt::IB_QP_TIMEOUT, attr.timeout);
  take(Arg::kRetryCnt, rvt::IB_QP_RETRY_CNT, attr.retry_cnt);
  take(Arg::kRnrRetry, rvt::IB_QP_RNR_RETRY, attr.rnr_retry);
  take(Arg::kMinRnrTimer, rvt::IB_QP_MIN_RNR_TIMER, attr.min_rnr_timer);
  take(Arg::kMaxRdAtomic, rvt::IB_QP_MAX_QP_RD_ATOMIC, attr.max_rd_atomic);
  take(Arg::kMaxDestRdAtomic, rvt::IB_QP_MAX_DEST_RD_ATOMIC, attr.max_dest_rd_atomic);
  take(Arg::kPkeyIndex, rvt::IB_QP_PKEY_INDEX, attr.pkey_index);
  take(Arg::kPort, rvt::IB_QP_PORT, attr.port_num);
  take(Arg::kQkey, rvt::IB_QP_QKEY, attr.qkey);
  if (operation.has(Arg::kMtu)) {
    std::uint32_t mtu_code = 1;
    while ((128u << mtu_code) < operation.value(Arg::kMtu)) ++mtu_code;
    attr.path_mtu = static_cast<rvt::ib_mtu>(mtu_code);
    mask |= rvt::IB_QP_PATH_MTU;
  }
  if (operation.has(Arg::kDest)) {
    const std::uint64_t dest = operation.value(Arg::kDest);
    it.peer_node = directory_.index_of(static_cast<NameId>(dest >> 32));
    TraceQp* peer = directory_.node(it.peer_node).qp(static_cast<NameId>(dest));
    if (peer == nullptr) return -22;  // not created yet
    if (it.qp->qp_type == rvt::IB_QPT_UD) {
      const int sent_nowhere = send_to(it, it.peer_node, peer->qpn);
      if (sent_nowhere != 0) return sent_nowhere;
    } else {
      mask |= rvt::IB_QP_DEST_QPN | rvt::IB_QP_AV;
    }
    attr.dest_qp_num = peer->qpn;
    set_path(attr, it.peer_node);
  }
  const int refused = operation.has(Arg::kGid) ? send_to_group(it, operation) : 0;
  if (refused != 0) return refused;
  const int error = rvt::ib_modify_qp(it.qp, &attr, mask);
  if (error == 0 && attr.qp_state == rvt::IB_QPS_RESET && (mask & rvt::IB_QP_STATE) != 0) {
    listener_->qp_reset(operation.object, it);
  }
  return error;
}

int NodeObjects::dereg(const Operation& operation) {
  TraceMr& it = *mr(operation.object);
  const int error = rvt::ib_dereg_mr(it.mr);
  if (error == 0) it.mr = nullptr;
  return error;
}

int NodeObjects::destroy_cq(const Operation& operation) {
  const int error = rvt::ib_destroy_cq(cq(operation.object)->cq);
  if (error != 0) return error;
  listener_->cq_destroyed(operation.object);
  cqs_[operation.object] = nullptr;
  return 0;
}

int NodeObjects::destroy_qp(const Operation& operation) {
  const TraceQp& gone = *qp(operation.object);
  const int error = rvt::ib_destroy_qp(gone.qp);
  if (error != 0) return error;
  listener_->qp_destroyed(operation.object, gone);
  qps_[operation.object] = nullptr;
  return 0;
}

void NodeObjects::tear_down() {
  detach_all();
  for (TraceQp* it : qps_) {
    if (it != nullptr) rvt::ib_destroy_qp(it->qp);
  }
  for (TraceSrq* it : srqs_) {
    if (it != nullptr) rvt::ib_destroy_srq(it->srq);
  }
  for (const TraceQp& it : qp_store_) {
    if (it.ah != nullptr) rvt::rdma_destroy_ah(it.ah);
  }
  for (TraceCq* it : cqs_) {
    if (it != nullptr) rvt::ib_destroy_cq(it->cq);
  }
  for (TraceMr& it : mr_store_) {
    if (it.mr != nullptr) rvt::ib_dereg_mr(it.mr);
  }
  if (pd_ != nullptr) rvt::ib_dealloc_pd(pd_);
}

ControlResult NodeObjects::execute(const Operation& operation) {
  const auto number = [&](Arg arg) { return static_cast<std::uint32_t>(operation.value(arg)); };
  switch (operation.verb) {
    case Verb::kRegMr:
      return {make_mr(operation.object, operation.value(Arg::kLength), number(Arg::kAccess),
                      operation.has(Arg::kIova), operation.value(Arg::kIova)),
              "reg_mr"};
    case Verb::kDeregMr:
      return {dereg(operation), "dereg_mr"};
    case Verb::kCreateCq: {
      const int error = make_cq(operation.object, number(Arg::kCqe), number(Arg::kVector));
      const bool moderated = operation.has(Arg::kCqCount) || operation.has(Arg::kCqPeriod);
      if (error != 0 || !moderated) return {error, "create_cq"};
      return moderate_cq(operation);
    }
    case Verb::kModifyCq:
      return moderate_cq(operation);
    case Verb::kDestroyCq:
      return {destroy_cq(operation), "destroy_cq"};
    case Verb::kCreateQp:
      return make_qp(operation, operation.object, number(Arg::kSendCq), number(Arg::kRecvCq));
    case Verb::kModifyQp:
      return {modify(operation), "modify_qp"};
    case Verb::kDestroyQp:
      return {destroy_qp(operation), "destroy_qp"};
    case Verb::kReqNotifyCq: {
      std::uint32_t flags =
          operation.flag(kSolicited) ? rvt::IB_CQ_SOLICITED : rvt::IB_CQ_NEXT_COMP;
      if (operation.flag(kMissedEvents)) flags |= rvt::IB_CQ_REPORT_MISSED_EVENTS;
      const int answer = rvt::ib_req_notify_cq(cq(operation.object)->cq, flags);
      return {answer < 0 ? answer : 0, "req_notify_cq"};
    }
    case Verb::kAllocMr:
      return {alloc_mr(operation.object, operation.value(Arg::kLength)), "alloc_mr"};
    case Verb::kCreateSrq:
      return create_srq(operation);
    case Verb::kModifySrq:
      return modify_srq(operation);
    case Verb::kDestroySrq:
      return {destroy_srq(operation), "destroy_srq"};
    case Verb::kAttachMcast:
      return {attach_mcast(operation), "attach_mcast"};
    case Verb::kDetachMcast:
      return {detach_mcast(operation), "detach_mcast"};
    default:
      return {-95, "verb"};
  }
}

}  // namespace hcasim::sim
