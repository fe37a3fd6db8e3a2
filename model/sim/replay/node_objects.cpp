// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/replay/node_objects.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sim/replay/device_limits.hpp"

namespace hcasim::sim {

namespace {

rvt::ib_mtu mtu_code(std::uint64_t bytes) {
  std::uint32_t code = 1;
  while ((128u << code) < bytes) ++code;
  return static_cast<rvt::ib_mtu>(code);
}

}  // namespace

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

std::string ControlResult::refusal() const {
  return std::string(verb) + " was refused: " + (reason.empty() ? std::strerror(-error) : reason);
}

NodeObjects::NodeObjects(NodeSystem& node, ObjectDirectory& directory)
    : node_(node), directory_(directory) {}

// Made at its first use.
rvt::ib_pd* NodeObjects::pd() {
  if (pd_ == nullptr) pd_ = rvt::ib_alloc_pd(rvt::rvt_ib_device(node_.device()));
  return pd_;
}

int NodeObjects::make_mr(NameId name, std::uint64_t length, std::uint32_t access, bool iova_given,
                         std::uint64_t iova) {
  pd();
  const std::uint64_t host = node_.host().cpu().allocate(length == 0 ? 1 : length, 4096);
  if (host == 0) return -12;
  return register_memory(name, host, length, access, iova_given ? iova : host);
}

int NodeObjects::register_memory(NameId name, std::uint64_t host, std::uint64_t length,
                                 std::uint32_t access, std::uint64_t address) {
  rvt::ib_mr* mr = rvt::ib_reg_user_mr(pd_, host, length, address, access);
  if (rvt::IS_ERR(mr)) return rvt::PTR_ERR(mr);
  place(mrs_, name, &mr_store_.emplace_back(TraceMr{mr, address, host, mr->lkey, length}));
  return 0;
}

int NodeObjects::reg_mr(const Operation& operation) {
  if (operation.has(Arg::kMemory)) return reg_shared_mr(operation);
  return make_mr(operation.object, operation.value(Arg::kLength),
                 static_cast<std::uint32_t>(operation.value(Arg::kAccess)),
                 operation.has(Arg::kIova), operation.value(Arg::kIova));
}

// Bytes that an MR of this node or of another one of the host has already. That MR may be another
// by now than the one that the reader of the trace saw.
int NodeObjects::reg_shared_mr(const Operation& operation) {
  const std::uint64_t memory = operation.value(Arg::kMemory);
  const std::uint32_t owner = directory_.index_of(static_cast<NameId>(memory >> 32));
  const TraceMr* const region = directory_.node(owner).mr(static_cast<NameId>(memory));
  const std::uint64_t offset = operation.value(Arg::kMemoryOffset);
  const std::uint64_t length = operation.value(Arg::kLength);
  if (region == nullptr || offset > region->bytes || length > region->bytes - offset)
    return -EINVAL;
  pd();
  const std::uint64_t host = region->host_address + offset;
  const std::uint64_t iova = operation.has(Arg::kIova) ? operation.value(Arg::kIova) : host;
  return register_memory(operation.object, host, length,
                         static_cast<std::uint32_t>(operation.value(Arg::kAccess)), iova);
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
    const std::string size = beyond_limits(attr.cap, pd_->device->attrs);
    return {rvt::PTR_ERR(qp), "create_qp", size.empty() ? no_more_qps(*node_.device()) : size};
  }
  place(qps_, name, &qp_store_.emplace_back(TraceQp{qp, qp->qp_num, 0, send_wr, recv_wr, all}));
  if (pool != nullptr) qp_store_.back().srq = shared;
  has_unreliable_ = has_unreliable_ || !qp_store_.back().reliable();
  listener_->qp_created(name, qp_store_.back());
  return {};
}

// Ports are 1-based. One that no adapter has is left to the driver to refuse.
void NodeObjects::set_path(rvt::ib_qp_attr& attr, std::uint32_t port, std::uint32_t peer,
                           std::uint32_t peer_port) const {
  const auto index = [](std::uint32_t number) { return std::clamp(number, 1u, hw::kMaxPorts) - 1; };
  const NodeAddress& own = node_.address(index(port));
  const NodeAddress& remote = directory_.node(peer).node_.address(index(peer_port));
  attr.ah_attr.port_num = static_cast<std::uint8_t>(port);
  attr.ah_attr.grh.sgid = own.gid;
  attr.ah_attr.grh.dgid = remote.gid;
  attr.ah_attr.grh.traffic_class = static_cast<std::uint8_t>(node_.config().fabric.traffic_class);
  attr.ah_attr.roce.smac = own.mac;
  attr.ah_attr.roce.dmac = remote.mac;
}

int NodeObjects::to_init(TraceQp& qp, const Operation& operation) {
  rvt::ib_qp_attr attr;
  attr.qp_state = rvt::IB_QPS_INIT;
  attr.port_num = static_cast<std::uint32_t>(operation.value(Arg::kPort));
  qp.port = attr.port_num;
  attr.qp_access_flags = static_cast<std::uint32_t>(operation.value(Arg::kAccess));
  attr.qkey = static_cast<std::uint32_t>(operation.value(Arg::kQkey));
  const bool datagram = qp.qp->qp_type == rvt::IB_QPT_UD;
  return rvt::ib_modify_qp(qp.qp, &attr,
                           rvt::IB_QP_STATE | rvt::IB_QP_PKEY_INDEX | rvt::IB_QP_PORT |
                               (datagram ? rvt::IB_QP_QKEY : rvt::IB_QP_ACCESS_FLAGS));
}

// Where the sends of a UD QP go from now on.
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
  rvt::ib_qp_attr attr;
  set_path(attr, qp.port, side.peer_node, qp.port);
  int error = send_by(qp, attr.ah_attr, peer_qpn);
  if (error != 0) return {error, "create_ah"};
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
    ControlResult made =
        make_cq(default_cq_, static_cast<std::uint32_t>(operation.value(Arg::kCqe)), 0);
    if (made.error != 0) return made;
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
  set_path(attr, it.port, it.peer_node, it.port);
  attr.path_mtu = mtu_code(operation.value(Arg::kMtu));
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

namespace {

// Takes over what a modify_qp names. Returns the mask of it.
int read_attributes(const Operation& operation, rvt::ib_qp_attr& attr) {
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
    attr.path_mtu = mtu_code(operation.value(Arg::kMtu));
    mask |= rvt::IB_QP_PATH_MTU;
  }
  return mask;
}

}  // namespace

// `dest=`: a UD QP sends there from now on, which is nothing that the QP is told.
int NodeObjects::read_destination(TraceQp& qp, const Operation& operation, rvt::ib_qp_attr& attr,
                                  int& mask) {
  const std::uint64_t dest = operation.value(Arg::kDest);
  qp.peer_node = directory_.index_of(static_cast<NameId>(dest >> 32));
  const TraceQp* peer = directory_.node(qp.peer_node).qp(static_cast<NameId>(dest));
  if (peer == nullptr) return -22;  // not created yet
  const std::uint32_t port = operation.has(Arg::kPort) ? attr.port_num : std::max(qp.port, 1u);
  set_path(attr, port, qp.peer_node, peer->port != 0 ? peer->port : port);
  attr.dest_qp_num = peer->qpn;
  if (qp.qp->qp_type == rvt::IB_QPT_UD) return send_by(qp, attr.ah_attr, peer->qpn);
  mask |= rvt::IB_QP_DEST_QPN | rvt::IB_QP_AV;
  return 0;
}

int NodeObjects::modify(const Operation& operation) {
  TraceQp& it = *qp(operation.object);
  rvt::ib_qp_attr attr;
  int mask = read_attributes(operation, attr);
  int error = 0;
  if (operation.has(Arg::kDest)) {
    error = read_destination(it, operation, attr, mask);
  }
  if (error == 0 && operation.has(Arg::kGid)) error = send_to_group(it, operation);
  if (error == 0) error = rvt::ib_modify_qp(it.qp, &attr, mask);
  if (error == 0 && operation.has(Arg::kPort)) it.port = attr.port_num;
  if (error == 0 && attr.qp_state == rvt::IB_QPS_RESET && (mask & rvt::IB_QP_STATE) != 0) {
    listener_->qp_reset(operation.object, it);
  }
  return error;
}

ControlResult NodeObjects::create_qp(const Operation& operation) {
  const auto queue = [&](Arg arg) { return static_cast<NameId>(operation.value(arg)); };
  return make_qp(operation, operation.object, queue(Arg::kSendCq), queue(Arg::kRecvCq));
}

ControlResult NodeObjects::execute(const Operation& operation) {
  switch (operation.verb) {
    case Verb::kRegMr:
      return {reg_mr(operation), "reg_mr"};
    case Verb::kDeregMr:
      return {dereg(operation), "dereg_mr"};
    case Verb::kCreateCq:
      return create_cq(operation);
    case Verb::kModifyCq:
      return moderate_cq(operation);
    case Verb::kResizeCq:
      return resize_cq(operation);
    case Verb::kDestroyCq:
      return {destroy_cq(operation), "destroy_cq"};
    case Verb::kCreateQp:
      return create_qp(operation);
    case Verb::kModifyQp:
      return {modify(operation), "modify_qp"};
    case Verb::kDestroyQp:
      return {destroy_qp(operation), "destroy_qp"};
    case Verb::kReqNotifyCq:
      return {req_notify_cq(operation), "req_notify_cq"};
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
