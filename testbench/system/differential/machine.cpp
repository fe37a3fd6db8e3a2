// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include <algorithm>
#include <stdexcept>

namespace hcasim::differential {
namespace {

using namespace rvt;

// Longer than any retry that ends, and a few of those that do not.
constexpr hw::Time kQuietTime = 4'000 * hw::kMicrosecond;
constexpr hw::Time kStep = 1'000 * hw::kMicrosecond;
constexpr int kMostSteps = 100;
constexpr std::uint8_t kTimeout = 6;  // 262 us
constexpr std::uint8_t kRetries = 1;
constexpr std::uint8_t kRnrTimer = 10;        // 320 us
constexpr std::uint32_t kWrongKeyBit = 0x40;  // a key of no region
constexpr int kUnknownBit = 1 << 30;
constexpr std::uint32_t kQkey = 0x1234;
constexpr std::uint32_t kNobody = 0xff'fffe;  // a number that no queue pair has

}  // namespace

Machine::Machine(Reference& reference)
    : reference_(reference), system_(sim::load_config({}), {{"a", "b"}, 1, true}) {
  if (system_.start_devices() != 0) throw std::runtime_error("the devices do not start");
  for (std::size_t node = 0; node < kNodes; ++node) run(node, [&] { make_objects(node); });
}

bool Machine::run(std::size_t node, const std::function<void()>& body) {
  bool done = false;
  system_.node(node).host().cpu().start_task([&] {
    body();
    done = true;
  });
  for (int i = 0; i < kMostSteps && !done; ++i) system_.run_until(system_.now() + kStep);
  if (!done) throw std::runtime_error("a verb does not return");
  return done;
}

void Machine::make_objects(std::size_t node) {
  ib_device* device = devices_[node] = rvt_ib_device(system_.node(node).device());
  pds_[node] = ib_alloc_pd(device);
  ib_cq_init_attr cq;
  cq.cqe = static_cast<decltype(cq.cqe)>(kCqEntries);
  for (std::size_t i = 0; i < kCqs; ++i) {
    const std::size_t owner = i == kSharedCq ? 1 : i / 2;
    if (owner == node) cqs_[i] = ib_create_cq(device, on_notification, on_event, this, &cq);
  }
  host::CpuPort& cpu = system_.node(node).host().cpu();
  memory_[node] = cpu.allocate(kMemoryBytes, 4096);
  cpu.write(memory_[node], reference_.memory(node).data(), kMemoryBytes);
  mrs_[node] = ib_reg_user_mr(pds_[node], memory_[node], kMemoryBytes, memory_[node],
                              IB_ACCESS_LOCAL_WRITE | kAllRights);
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    if (node_of(slot) == node) make_regions(slot);
  }
  const rdma_ah_attr to_other = path(node, 1 - node);
  to_other_[node] = rdma_create_ah(pds_[node], &to_other);
  if (node == 0) return;
  ib_srq_init_attr srq;
  srq.attr.max_wr = kSharedSlots;
  srq.attr.max_sge = kMostSges;
  srq.event_handler = on_event;
  srq.srq_context = this;
  srq_ = ib_create_srq(pds_[node], &srq);
}

int Machine::create(std::size_t slot) {
  const std::size_t node = node_of(slot);
  ib_qp_init_attr init;
  init.event_handler = on_event;
  init.qp_context = this;
  init.send_cq = cqs_[send_cq_of(slot)];
  init.recv_cq = cqs_[recv_cq_of(slot)];
  init.srq = uses_srq(slot) ? srq_ : nullptr;
  init.cap = {kSendSlots, kReceiveSlots, kMostSges, kMostSges, kMostInline};
  init.qp_type = pair_of(slot).type;
  run(node, [&] { qps_[slot] = ib_create_qp(pds_[node], &init); });
  return IS_ERR(qps_[slot]) ? static_cast<int>(PTR_ERR(qps_[slot])) : 0;
}

int Machine::destroy(std::size_t slot) {
  int result = 0;
  run(node_of(slot), [&] { result = ib_destroy_qp(qps_[slot]); });
  qps_[slot] = nullptr;
  return result;
}

rdma_ah_attr Machine::path(std::size_t from_node, std::size_t to_node) {
  const sim::NodeAddress from = sim::address_of_node(from_node);
  const sim::NodeAddress to = sim::address_of_node(to_node);
  rdma_ah_attr attr;
  attr.grh.sgid = from.gid;
  attr.grh.dgid = to.gid;
  attr.roce.smac = from.mac;
  attr.roce.dmac = to.mac;
  return attr;
}

void Machine::attributes(std::size_t slot, ib_qp_attr& attr) const {
  attr.port_num = 1;
  attr.qp_access_flags = kAllRights;
  attr.ah_attr = path(node_of(slot), node_of(peer_of(slot)));
  attr.qkey = kQkey;
  const ib_qp* peer = qps_[peer_of(slot)];
  attr.path_mtu = IB_MTU_256;
  static_assert(kMtu == 256);
  attr.dest_qp_num = peer == nullptr ? 0 : peer->qp_num;
  attr.max_rd_atomic = attr.max_dest_rd_atomic = 16;
  attr.min_rnr_timer = kRnrTimer;
  attr.timeout = kTimeout;
  attr.retry_cnt = kRetries;
  attr.rnr_retry = pair_of(slot).rnr_retry;
  attr.sq_psn = reference_.queues(slot).sq_psn;
  attr.rq_psn = reference_.queues(slot).rq_psn;
}

int Machine::mask_of(std::size_t slot, const Operation& op, ib_qp_state before) const {
  int mask = IB_QP_STATE;
  const bool needed = needs_attributes(slot, before, op.to);
  const bool rc = reliable(slot);
  int last = 0;  // the one that is left out where one is to be
  if (op.to == IB_QPS_INIT && needed) {
    mask |= IB_QP_PKEY_INDEX | IB_QP_PORT;
    last = datagram(slot) ? IB_QP_QKEY : IB_QP_ACCESS_FLAGS;
  } else if (op.to == IB_QPS_RTR && needed) {
    mask |= IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN;
    if (rc) mask |= IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
    last = IB_QP_RQ_PSN;
  } else if (op.to == IB_QPS_RTS && needed) {
    if (rc) {
      mask |= IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC;
    }
    last = IB_QP_SQ_PSN;
  }
  if (op.flaw != Flaw::kOmitted) mask |= last;
  if (op.flaw == Flaw::kForbidden) mask |= datagram(slot) ? IB_QP_ACCESS_FLAGS : IB_QP_QKEY;
  if (op.flaw == Flaw::kWrongCurrent) mask |= IB_QP_CUR_STATE;
  if (op.flaw == Flaw::kUnknownBit) mask |= kUnknownBit;
  return mask;
}

int Machine::modify(const Operation& op, ib_qp_state before) {
  ib_qp_attr attr;
  attributes(op.slot, attr);
  attr.qp_state = op.to;
  attr.cur_qp_state = before == IB_QPS_RTS ? IB_QPS_SQD : IB_QPS_RTS;
  const int mask = mask_of(op.slot, op, before);
  int result = 0;
  host::HostModule& host = system_.node(node_of(op.slot)).host();
  const hw::Time start = system_.now() + (op.racing ? op.length : 0) * hw::kNanosecond;
  run(node_of(op.slot), [&] {
    if (op.racing) host.tasks().sleep_until(start);
    result = ib_modify_qp(qps_[op.slot], &attr, mask);
  });
  return result;
}

ib_qp_state Machine::state(std::size_t slot) {
  ib_qp_attr attr;
  ib_qp_init_attr init;
  ib_query_qp(qps_[slot], &attr, IB_QP_STATE, &init);
  return attr.qp_state;
}

std::uint32_t Machine::local_key(const Operation& op, std::size_t node) const {
  return op.key == Key::kOwn ? own_[op.slot]->lkey : mrs_[node]->lkey;
}

std::uint32_t Machine::elements(ib_sge* sges, std::uint64_t address, std::uint32_t length,
                                std::uint32_t id, std::uint32_t key) {
  const std::uint32_t first = (id & 1) != 0 ? length / 3 : length;
  sges[0] = {address, first, key};
  sges[1] = {address + first, length - first, key};
  return first == length ? 1 : 2;
}

ib_send_wr& Machine::datagram_request(const Operation& op, std::uint32_t index, Flaw flaw) {
  ib_ud_wr& ud = ud_[index];
  ud = {};
  const ib_qp* peer = qps_[peer_of(op.slot)];
  ud.ah = to_other_[node_of(op.slot)];
  ud.remote_qpn = peer == nullptr ? kNobody : peer->qp_num;
  ud.remote_qkey = flaw == Flaw::kBadRkey ? kQkey + 1 : kQkey;
  return ud.wr;
}

void Machine::describe(const Operation& op, std::uint32_t index, Flaw flaw, ib_rdma_wr& rdma,
                       ib_atomic_wr& atomic) {
  const std::size_t there = node_of(peer_of(op.slot));
  const std::uint32_t source = source_of(op.id, index);
  std::uint32_t key = by_window_key(op) ? window_key(op) : mrs_[there]->rkey;
  if (flaw == Flaw::kBadRkey) key ^= kWrongKeyBit;
  const std::uint32_t window = window_of(peer_of(op.slot));
  rdma.rkey = atomic.rkey = key;
  rdma.remote_addr = memory_[there] + (op.opcode == IB_WR_RDMA_READ ? source : window);
  atomic.remote_addr = memory_[there] + window + source % kWindowBytes;
  if (flaw == Flaw::kMisaligned) ++atomic.remote_addr;
  atomic.compare_add = wr_id_of(op.slot, op.id, index);
  atomic.swap = ~atomic.compare_add;
}

ib_send_wr& Machine::request(const Operation& op, std::uint32_t index) {
  if (is_local(op.opcode)) return local_request(op, index);
  const std::size_t node = node_of(op.slot);
  const Flaw flaw = index + 1u == op.count ? op.flaw : Flaw::kNone;
  rdma_[index] = {};
  atomic_[index] = {};
  describe(op, index, flaw, rdma_[index], atomic_[index]);
  ib_send_wr& wr = datagram(op.slot) && is_send(op.opcode) ? datagram_request(op, index, flaw)
                   : is_atomic(op.opcode)                  ? atomic_[index].wr
                                                           : rdma_[index].wr;
  ib_sge* sges = sges_[index].data();
  const bool lands = op.opcode == IB_WR_RDMA_READ || is_atomic(op.opcode);
  const std::uint32_t offset = lands ? landing_of(op.slot) : source_of(op.id, index);
  const std::uint32_t length = is_atomic(op.opcode) ? 8 : op.length;
  wr.num_sge = static_cast<int>(
      elements(sges, memory_[node] + offset, length, lands ? 0 : op.id, local_key(op, node)));
  wr.sg_list = sges;
  wr.wr_id = wr_id_of(op.slot, op.id, index);
  wr.opcode = flaw == Flaw::kBadOpcode ? IB_WR_LSO : op.opcode;
  wr.send_flags = op.unsignaled ? 0u : std::uint32_t{IB_SEND_SIGNALED};
  wr.ex.imm_data = cpu_to_be32(op.id + index);
  if (op.solicited) wr.send_flags |= IB_SEND_SOLICITED;
  if ((sent_inline(op) && flaw != Flaw::kBadLkey) || flaw == Flaw::kLongInline) {
    wr.send_flags |= IB_SEND_INLINE;
  }
  if (flaw == Flaw::kLongInline) sges[0].length = kMostInline + 1;
  if (flaw == Flaw::kBadLkey) sges[wr.num_sge - 1].lkey ^= kWrongKeyBit;
  if (flaw == Flaw::kTooManySges) wr.num_sge = kMostSges + 1;
  return wr;
}

Posted Machine::post_send(const Operation& op) {
  std::array<const ib_send_wr*, kMostInList> list{};
  for (std::uint32_t i = op.count; i-- > 0;) {
    ib_send_wr& wr = request(op, i);
    wr.next = i + 1u == op.count ? nullptr : list[i + 1];
    list[i] = &wr;
  }
  const ib_send_wr* bad = nullptr;
  Posted result;
  result.error = ib_post_send(qps_[op.slot], list[0], &bad);
  const auto found = std::find(list.begin(), list.begin() + op.count, bad);
  if (bad != nullptr) result.bad = static_cast<int>(found - list.begin());
  return result;
}

Posted Machine::post_recv(const Operation& op) {
  const bool shared = op.kind == Kind::kPostSrqRecv;
  const std::size_t node = shared ? 1 : node_of(op.slot);
  const std::uint32_t area = shared ? kSharedArea : receives_of(op.slot);
  const std::uint32_t used =
      shared ? reference_.shared_buffers() : reference_.queues(op.slot).buffers_used;
  std::array<ib_recv_wr, kMostInList> list;
  for (std::uint32_t i = 0; i < op.count; ++i) {
    ib_recv_wr& wr = list[i];
    ib_sge* sges = sges_[i].data();
    const Flaw flaw = i + 1u == op.count ? op.flaw : Flaw::kNone;
    const std::uint32_t offset = area + (used + i) % kBuffers * kReceiveBytes;
    wr.num_sge = static_cast<int>(
        elements(sges, memory_[node] + offset, kReceiveBytes, op.id, local_key(op, node)));
    wr.sg_list = sges;
    wr.wr_id = wr_id_of(shared ? kSharedMark : op.slot, op.id, i);
    if (flaw == Flaw::kTooManySges) wr.num_sge = kMostSges + 1;
    if (flaw == Flaw::kBadLkey) sges[0].lkey ^= kWrongKeyBit;
    wr.next = i + 1u == op.count ? nullptr : &list[i + 1];
  }
  const ib_recv_wr* bad = nullptr;
  Posted result;
  result.error = shared ? ib_post_srq_recv(srq_, list.data(), &bad)
                        : ib_post_recv(qps_[op.slot], list.data(), &bad);
  if (bad != nullptr) result.bad = static_cast<int>(bad - list.data());
  return result;
}

void Machine::refuse_on_node(Refusal what, int& result) {
  ib_cq_init_attr cq;
  ib_qp_init_attr qp;
  ib_srq_init_attr srq;
  qp.send_cq = qp.recv_cq = cqs_[2];
  qp.cap = {1, 1, 1, 1, 0};
  const auto code = [](auto* made) { return IS_ERR(made) ? static_cast<int>(PTR_ERR(made)) : 0; };
  switch (what) {
    case Refusal::kEmptyCq:
      result = code(ib_create_cq(devices_[1], nullptr, nullptr, nullptr, &cq));
      break;
    case Refusal::kCqInUse:
      if (cqs_[2]->usecnt != 0) result = ib_destroy_cq(cqs_[2]);
      break;
    case Refusal::kBadType:
      qp.qp_type = IB_QPT_RAW_PACKET;
      result = code(ib_create_qp(pds_[1], &qp));
      break;
    case Refusal::kTooManyWrs:
      qp.cap.max_send_wr = static_cast<std::uint32_t>(devices_[1]->attrs.max_qp_wr) + 1;
      result = code(ib_create_qp(pds_[1], &qp));
      break;
    case Refusal::kPdInUse:
      result = ib_dealloc_pd(pds_[1]);
      break;
    case Refusal::kEmptySrq:
      result = code(ib_create_srq(pds_[1], &srq));
      break;
    case Refusal::kSrqInUse:
      if (srq_->usecnt != 0) result = ib_destroy_srq(srq_);
      break;
    case Refusal::kCount:
      break;
  }
}

int Machine::refused(Refusal what) {
  int result = reference_.refusal(what);
  run(1, [&] { refuse_on_node(what, result); });
  return result;
}

// Both nodes are at the same time afterwards, so that posts of either are at once.
void Machine::settle() {
  const hw::Time end = system_.now() + kQuietTime;
  for (std::size_t node = 0; node < kNodes; ++node) {
    host::HostModule& host = system_.node(node).host();
    host.cpu().start_task([&host, end] { host.tasks().sleep_until(end); });
  }
  system_.run_until(end + 1);
}

bool Machine::comes_to_rest() {
  constexpr hw::Time kLongest = 30 * hw::kSecond;  // stale timers of commands are there for 10 s
  return !system_.run_until(system_.now() + kLongest);
}

std::size_t Machine::slot_of(const ib_qp* qp) const {
  return static_cast<std::size_t>(std::find(qps_.begin(), qps_.end(), qp) - qps_.begin());
}

void Machine::read(std::size_t node, std::uint32_t offset, void* to, std::uint32_t bytes) {
  system_.node(node).host().cpu().read(memory_[node] + offset, to, bytes);
}

}  // namespace hcasim::differential
