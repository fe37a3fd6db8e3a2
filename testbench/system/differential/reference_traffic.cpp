// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What becomes of posted work once nothing hinders it.
#include <algorithm>

#include "reference.hpp"

namespace hcasim::differential {
namespace {

using namespace rvt;

bool receives(ib_qp_state state) {
  return state == IB_QPS_RTR || state == IB_QPS_RTS || state == IB_QPS_SQD;
}

ib_wc_opcode completion_of(ib_wr_opcode opcode) {
  switch (opcode) {
    case IB_WR_RDMA_WRITE:
    case IB_WR_RDMA_WRITE_WITH_IMM:
      return IB_WC_RDMA_WRITE;
    case IB_WR_RDMA_READ:
      return IB_WC_RDMA_READ;
    case IB_WR_ATOMIC_CMP_AND_SWP:
      return IB_WC_COMP_SWAP;
    case IB_WR_ATOMIC_FETCH_AND_ADD:
      return IB_WC_FETCH_ADD;
    case IB_WR_REG_MR:
      return IB_WC_REG_MR;
    case IB_WR_LOCAL_INV:
      return IB_WC_LOCAL_INV;
    default:
      return IB_WC_SEND;
  }
}

std::uint64_t load(const std::vector<std::uint8_t>& memory, std::uint32_t offset) {
  std::uint64_t value = 0;
  for (std::uint32_t i = 8; i-- > 0;) value = value << 8 | memory[offset + i];
  return value;
}

}  // namespace

void Reference::complete(std::size_t slot, bool receive, const Expected& expected, bool solicited) {
  expected_[slot][receive ? 1 : 0].push_back(expected);
  if (expected.wr_id >> kMarkShift == kSharedMark) shared_owner_[expected.wr_id] = slot;
  const std::size_t cq = receive ? recv_cq_of(slot) : send_cq_of(slot);
  ++due_[cq];
  notify(cq, solicited || expected.status != IB_WC_SUCCESS);
}

std::size_t Reference::owner_of(std::uint64_t wr_id) const {
  if (wr_id >> kMarkShift != kSharedMark) return wr_id >> kMarkShift;
  const auto found = shared_owner_.find(wr_id);
  return found == shared_owner_.end() ? kSlots : found->second;
}

bool Reference::take_expected(std::uint64_t wr_id, bool receive, Expected& expected) {
  const std::size_t slot = owner_of(wr_id);
  if (slot >= kSlots || expected_[slot][receive ? 1 : 0].empty()) return false;
  std::deque<Expected>& queue = expected_[slot][receive ? 1 : 0];
  expected = queue.front();
  queue.pop_front();
  shared_owner_.erase(wr_id);
  --due_[receive ? recv_cq_of(slot) : send_cq_of(slot)];
  return true;
}

// A completion gives back its slot and those of all sends before it.
void Reference::complete_send(std::size_t slot, ib_wc_status status) {
  Queues& q = slots_[slot];
  const Send send = q.sends.front();
  q.sends.pop_front();
  if (status == IB_WC_SUCCESS && !send.signaled) {
    if (looped(slot)) return;
    ++q.held;
    q.held_own = q.held_own || send.own;
    return;
  }
  q.held = 0;
  q.held_own = false;
  complete(slot, false, {send.wr_id, status, completion_of(send.opcode)});
}

void Reference::flush_receives(std::size_t slot) {
  Queues& q = slots_[slot];
  for (const Receive& receive : q.receives) {
    complete(slot, true, {receive.wr_id, rules_.flush_status, IB_WC_RECV});
  }
  q.receives.clear();
}

void Reference::enter_error(std::size_t slot) {
  Queues& q = slots_[slot];
  if (q.state == IB_QPS_ERR) return;
  q.state = IB_QPS_ERR;
  flush_receives(slot);
  if (uses_srq(slot) && rules_.tells_last_wqe) call(IB_EVENT_QP_LAST_WQE_REACHED, slot);
}

// The receive in hand tells why; the rest is flushed after it.
void Reference::fail_receiver(std::size_t slot, ib_wc_status in_hand, const Receive* receive) {
  if (receive != nullptr) complete(slot, true, {receive->wr_id, in_hand, IB_WC_RECV});
  enter_error(slot);
  slots_[slot].late_receive = uses_srq(slot) && !looped(slot);
}

bool Reference::reachable(std::size_t slot) const {
  const Queues& q = slots_[slot];
  const Queues& peer = slots_[peer_of(slot)];
  if (datagram(slot)) {
    return peer.exists && q.sends.front().peer_life == peer.life &&
           differential::receives(peer.state);
  }
  return peer.exists && q.peer_life == peer.life && peer.peer_life == q.life &&
         differential::receives(peer.state);
}

Reference::End Reference::unreachable_end(std::size_t slot) {
  slots_[slot].fresh = false;
  if (!reliable(slot)) {
    complete_send(slot, IB_WC_SUCCESS);  // nobody hears of the loss
    return End::kDone;
  }
  complete_send(slot, IB_WC_RETRY_EXC_ERR);
  return End::kSenderFails;
}

// RC has no receive to lose: it tries again, for ever or until it gives up.
Reference::End Reference::no_receive(std::size_t slot) {
  if (!reliable(slot)) {
    complete_send(slot, IB_WC_SUCCESS);
    return End::kDone;
  }
  constexpr std::uint8_t kForEver = 7;
  if (pair_of(slot).rnr_retry == kForEver) return End::kWaits;
  complete_send(slot, IB_WC_RNR_RETRY_EXC_ERR);
  return End::kSenderFails;
}

// On the wire UC tells nobody of an error. Looped back the sender hears of it and goes on, as
// rdmavt has it.
Reference::End Reference::refused_by_peer(std::size_t slot, const Receive* receive,
                                          ib_wc_status in_hand, ib_wc_status status) {
  const bool silent = !reliable(slot) && !looped(slot);
  if (!silent || in_hand == IB_WC_LOC_PROT_ERR) {
    fail_receiver(peer_of(slot), in_hand, receive);
    const bool access = status == IB_WC_REM_ACCESS_ERR;
    // What no receive can tell, an event does.
    if (receive == nullptr) {
      call(access ? IB_EVENT_QP_ACCESS_ERR : IB_EVENT_QP_REQ_ERR, peer_of(slot));
    }
  }
  const bool unheard = !reliable(slot) && (silent || status == IB_WC_REM_INV_REQ_ERR);
  complete_send(slot, unheard ? IB_WC_SUCCESS : status);
  return reliable(slot) ? End::kSenderFails : End::kDone;
}

bool Reference::offers_receive(std::size_t slot, const Owners* owners, bool take_unseen) const {
  const std::size_t peer = peer_of(slot);
  if (!uses_srq(peer)) return !slots_[peer].receives.empty();
  if (shared_.empty() || owners == nullptr) return false;
  const auto owner = owners->find(shared_.front().wr_id);
  return owner == owners->end() ? take_unseen : owner->second == peer;
}

Receive Reference::take_receive(std::size_t slot) {
  const bool shared = uses_srq(peer_of(slot));
  std::deque<Receive>& queue = shared ? shared_ : slots_[peer_of(slot)].receives;
  const Receive receive = queue.front();
  shared ? take_shared() : queue.pop_front();
  return receive;
}

Reference::End Reference::with_receive(std::size_t slot, const Receive& receive) {
  const Send send = slots_[slot].sends.front();
  const std::size_t peer = peer_of(slot);
  const bool data = is_send(send.opcode);
  const std::uint32_t before = datagram(slot) ? kGrhBytes : 0;
  const std::uint32_t length = before + send.length;
  if (receive.bad && data && (length != 0 || looped(slot))) {
    return refused_by_peer(slot, &receive, IB_WC_LOC_PROT_ERR, IB_WC_REM_OP_ERR);
  }
  if (send.flaw == Flaw::kBadRkey && looped(slot)) {
    return refused_by_peer(slot, &receive, IB_WC_LOC_PROT_ERR, IB_WC_REM_ACCESS_ERR);
  }
  if (data && length > kReceiveBytes) {
    if (!looped(slot)) touched_.push_back({node_of(peer), receive.offset, kReceiveBytes, true});
    if (!reliable(slot) && !looped(slot)) slots_[peer].receives.push_front(receive);  // kept
    return refused_by_peer(slot, &receive, IB_WC_LOC_LEN_ERR, IB_WC_REM_INV_REQ_ERR);
  }
  if (data) {
    if (before != 0) touched_.push_back({node_of(peer), receive.offset, before, true});
    write(node_of(peer), receive.offset + before, memory_[node_of(slot)].data() + send.source,
          send.length);
  } else {
    move_data(slot, send);
  }
  Expected expected{receive.wr_id, IB_WC_SUCCESS, IB_WC_RECV, length};
  if (!data) expected.opcode = IB_WC_RECV_RDMA_WITH_IMM;
  expected.has_imm = send.opcode != IB_WR_SEND;
  expected.imm = send.imm;
  complete(peer, true, expected, send.solicited);
  complete_send(slot, IB_WC_SUCCESS);
  return End::kDone;
}

// A key of the peer is looked at before a receive on the wire, and after it in loopback.
Reference::End Reference::message(std::size_t slot, const Owners* owners, bool take_unseen) {
  const Send send = slots_[slot].sends.front();
  const bool taking = takes_receive(send.opcode);
  if (send.flaw == Flaw::kMisaligned) {
    return refused_by_peer(slot, nullptr, IB_WC_LOC_QP_OP_ERR, IB_WC_REM_INV_REQ_ERR);
  }
  const bool sees_key = !datagram(slot) || rules_.looks_at_qkey;
  if (send.flaw == Flaw::kBadRkey && sees_key && !(taking && looped(slot))) {
    if (!reliable(slot) && !looped(slot)) {
      complete_send(slot, IB_WC_SUCCESS);
      return End::kDone;
    }
    return refused_by_peer(slot, nullptr, IB_WC_LOC_PROT_ERR, IB_WC_REM_ACCESS_ERR);
  }
  if (!taking) {
    move_data(slot, send);
    complete_send(slot, IB_WC_SUCCESS);
    return End::kDone;
  }
  if (offers_receive(slot, owners, take_unseen)) return with_receive(slot, take_receive(slot));
  if (uses_srq(peer_of(slot))) return End::kWaits;
  return no_receive(slot);
}

Reference::End Reference::carry_out(std::size_t slot, const Owners* owners, bool take_unseen) {
  // rdmavt looks for the other end first, whatever is looped back.
  const bool local = is_local(slots_[slot].sends.front().opcode);
  if (!reachable(slot) && !(local && !looped(slot))) return unreachable_end(slot);
  if (local) {
    complete_send(slot, IB_WC_SUCCESS);
    return End::kDone;
  }
  Queues& peer = slots_[peer_of(slot)];
  slots_[slot].fresh = peer.fresh = false;
  const bool connects = !looped(slot) && !datagram(slot) && rules_.tells_comm_est;
  if (peer.state == IB_QPS_RTR && !peer.established && connects) {
    call(IB_EVENT_COMM_EST, peer_of(slot));
  }
  peer.established = true;
  return message(slot, owners, take_unseen);
}

// @return true when something has happened
bool Reference::run(std::size_t slot, const Owners* owners, bool take_unseen) {
  Queues& q = slots_[slot];
  bool any = false;
  while (q.exists && !q.sends.empty()) {
    if (q.state == IB_QPS_ERR) {
      complete_send(slot, rules_.flush_status);
      any = true;
      continue;
    }
    if (q.state != IB_QPS_RTS) break;
    const End end = carry_out(slot, owners, take_unseen);
    if (end == End::kWaits) break;
    any = true;
    if (end == End::kSenderFails) enter_error(slot);
    if (take_unseen) break;
  }
  return any;
}

// A take that was under way when its queue pair failed spends its receive.
bool Reference::flush_late(const Owners& owners) {
  if (shared_.empty()) return false;
  const auto owner = owners.find(shared_.front().wr_id);
  if (owner == owners.end() || !slots_[owner->second].late_receive) return false;
  slots_[owner->second].late_receive = false;
  complete(owner->second, true, {shared_.front().wr_id, rules_.flush_status, IB_WC_RECV});
  take_shared();
  return true;
}

void Reference::settle(const Owners& owners) {
  bool any = true;
  while (any) {
    any = false;
    for (std::size_t slot = 0; slot < kSlots; ++slot) any = run(slot, &owners, false) || any;
    any = any || flush_late(owners);
    // What nobody was seen to take should have been taken: that completion will be missed.
    for (std::size_t slot = 0; slot < kSlots && !any; ++slot) any = run(slot, &owners, true);
  }
  for (Queues& q : slots_) {
    q.moving = q.key_moving = q.fresh_receives = q.late_receive = false;
  }
}

bool Reference::retries_without_end() const {
  return std::ranges::any_of(
      slots_, [](const Queues& q) { return q.state == IB_QPS_RTS && !q.sends.empty(); });
}

void Reference::write(std::size_t node, std::uint32_t offset, const std::uint8_t* from,
                      std::uint32_t bytes) {
  std::copy_n(from, bytes, memory_[node].begin() + offset);
  touched_.push_back({node, offset, bytes});
}

void Reference::move_data(std::size_t slot, const Send& send) {
  const std::size_t node = node_of(slot);
  const std::size_t peer = peer_of(slot);
  const std::size_t there = node_of(peer);
  if (send.opcode == IB_WR_RDMA_READ) {
    write(node, landing_of(slot), memory_[there].data() + send.source, send.length);
  } else if (is_atomic(send.opcode)) {
    const std::uint32_t target = window_of(peer) + send.source % kWindowBytes;
    const std::uint64_t before = load(memory_[there], target);
    const bool add = send.opcode == IB_WR_ATOMIC_FETCH_AND_ADD;
    std::uint64_t after = before + send.wr_id;
    if (!add) after = before == send.wr_id ? ~send.wr_id : before;
    std::array<std::uint8_t, 8> bytes;
    for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<std::uint8_t>(before >> 8 * i);
    write(node, landing_of(slot), bytes.data(), 8);
    for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<std::uint8_t>(after >> 8 * i);
    write(there, target, bytes.data(), 8);
  } else {
    write(there, window_of(peer), memory_[node].data() + send.source, send.length);
  }
}

}  // namespace hcasim::differential
