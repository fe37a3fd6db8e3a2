// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What verbs may do in which state, and what they do to the queues.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>

#include "reference.hpp"

namespace hcasim::differential {
namespace {

using namespace rvt;

bool may_post_sends(ib_qp_state state) {
  return state == IB_QPS_RTS || state == IB_QPS_SQD || state == IB_QPS_ERR;
}

// InfiniBand specification 10.3.1, the moves that software may make. SQE is not reached here.
bool is_move(ib_qp_state from, ib_qp_state to) {
  switch (to) {
    case IB_QPS_RESET:
      return true;
    case IB_QPS_INIT:
      return from == IB_QPS_RESET || from == IB_QPS_INIT;
    case IB_QPS_RTR:
      return from == IB_QPS_INIT;
    case IB_QPS_RTS:
      return from == IB_QPS_RTR || from == IB_QPS_RTS || from == IB_QPS_SQD;
    case IB_QPS_SQD:
      return from == IB_QPS_RTS || from == IB_QPS_SQD;
    case IB_QPS_SQE:
      return false;
    case IB_QPS_ERR:
      return from != IB_QPS_RESET;
  }
  return false;
}

bool found_out_by_peer(Flaw flaw) {
  return flaw == Flaw::kBadRkey || flaw == Flaw::kMisaligned || flaw == Flaw::kTooLong;
}

}  // namespace

bool needs_attributes(std::size_t slot, ib_qp_state from, ib_qp_state to) {
  return (from == IB_QPS_RESET && to == IB_QPS_INIT) ||
         (from == IB_QPS_INIT && to == IB_QPS_RTR && !datagram(slot)) ||
         (from == IB_QPS_RTR && to == IB_QPS_RTS);
}

Reference::Reference(const Rules& rules, std::uint64_t seed) : rules_(rules) {
  std::mt19937_64 random(seed);
  for (std::vector<std::uint8_t>& bytes : memory_) {
    bytes.resize(kMemoryBytes);
    static_assert(kMemoryBytes % sizeof(std::uint64_t) == 0);
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint64_t)) {
      const std::uint64_t word = random();
      std::memcpy(&bytes[i], &word, sizeof word);
    }
  }
}

bool Reference::may_connect(std::size_t slot) const {
  if (datagram(slot)) return true;
  const Queues& peer = slots_[peer_of(slot)];
  if (!peer.exists) return false;
  if (peer.state == IB_QPS_RESET || peer.state == IB_QPS_INIT || peer.state == IB_QPS_ERR) {
    return true;
  }
  return peer.peer_life == slots_[slot].life && peer.fresh;
}

bool Reference::skips(const Operation& op) const {
  switch (op.kind) {
    case Kind::kRefused:
    case Kind::kPoll:
    case Kind::kQuiet:
    case Kind::kPostSrqRecv:
    case Kind::kArmCq:
    case Kind::kArmSrq:
    case Kind::kResizeSrq:
      return false;
    case Kind::kResizeCq:  // never so that it overflows
      return op.length < kLeastCqEntries && resize_cq(op.slot, op.length) == 0;
    default:
      break;
  }
  const Queues& q = slots_[op.slot];
  if (op.kind == Kind::kCreateQp) return q.exists;
  if (!q.exists) return true;
  // So that it is carried out, and what meets it is certain.
  if (op.kind == Kind::kPostSend && is_local(op.opcode) && may_post_sends(q.state)) {
    const bool idle = q.sends.empty() && slots_[peer_of(op.slot)].sends.empty();
    return q.state != IB_QPS_RTS || !idle || op.count != 1;
  }
  if (op.kind != Kind::kModifyQp) return false;
  // What has begun when a queue drains is a matter of time; and one end alone is not connected
  // anew.
  if (op.to == IB_QPS_SQD && q.state == IB_QPS_RTS) return !q.sends.empty();
  return op.to == IB_QPS_RTR && q.state == IB_QPS_INIT && !may_connect(op.slot);
}

// An error of one direction meets what the other one has under way.
bool Reference::hazard(std::size_t slot) const {
  const PairKind& pair = pair_of(slot);
  if (pair.type != IB_QPT_RC || pair.rnr_retry != 7) return true;
  for (const std::size_t end : {slot, peer_of(slot)}) {
    const Queues& q = slots_[end];
    if (!q.exists || q.state != IB_QPS_RTS || q.key_moving) return true;
    const auto& receives = uses_srq(end) ? shared_ : q.receives;
    if (std::ranges::any_of(receives, &Receive::bad)) return true;
    if (std::ranges::any_of(q.sends, [](const Send& s) { return found_out_by_peer(s.flaw); })) {
      return true;
    }
  }
  return false;
}

bool Reference::both_would_move(std::size_t slot, bool with_hazard) const {
  if (!with_hazard && !hazard(slot)) return false;
  const Queues& peer = slots_[peer_of(slot)];
  return slots_[slot].moving && (peer.moving || !peer.sends.empty());
}

bool Reference::window_closed(const Operation& op) const {
  const bool closed = op.key == Key::kStale || !window_open(op.slot);
  return by_window_key(op) && closed && !rules_.invalid_keys_work;
}

bool Reference::wants_quiet(const Operation& op) const {
  if (may_race(op)) return false;
  const std::size_t slot = op.slot;
  const bool bad = op.flaw == Flaw::kBadLkey;
  switch (op.kind) {
    case Kind::kPostSend: {
      const Queues& peer = slots_[peer_of(slot)];
      const bool race = reliable(slot) || looped(slot);
      if (!race && peer.fresh_receives) return true;
      if (by_window_key(op) && peer.key_moving) return true;
      return peer.moving && (found_out_by_peer(op.flaw) || window_closed(op) || hazard(slot));
    }
    case Kind::kPostRecv: {
      const Queues& peer = slots_[peer_of(slot)];
      if (!reliable(slot) && !looped(slot) && peer.moving) return true;
      return both_would_move(slot, bad);
    }
    case Kind::kPostSrqRecv:
      for (std::size_t each = 0; each < kSlots; ++each) {
        if (!uses_srq(each)) continue;
        if (both_would_move(each, bad)) return true;
        // A receive may be taken before this post is heard of.
        if (limit_ != 0 && slots_[peer_of(each)].moving) return true;
      }
      return false;
    case Kind::kArmCq:  // notifications of one instant are one
      return calls_.contains({kNotification, op.slot});
    case Kind::kPoll:
      return false;
    default:
      return true;
  }
}

void Reference::clear(std::size_t slot) {
  Queues& q = slots_[slot];
  q.state = IB_QPS_RESET;
  q.peer_life = 0;
  q.fresh = false;
  q.sends.clear();
  q.receives.clear();
  q.held = 0;
  q.held_own = false;
  q.late_receive = false;
}

void Reference::create(std::size_t slot) {
  slots_[slot].exists = true;
  ++slots_[slot].life;
}

void Reference::destroy(std::size_t slot) {
  clear(slot);
  slots_[slot].exists = false;
  slots_[slot].had_rts = false;
}

int Reference::modify(const Operation& op) {
  Queues& q = slots_[op.slot];
  if (op.flaw == Flaw::kUnknownBit) return -EOPNOTSUPP;
  if (op.flaw == Flaw::kWrongCurrent || op.flaw == Flaw::kForbidden) return -EINVAL;
  if (!is_move(q.state, op.to)) return -EINVAL;
  if (op.flaw == Flaw::kOmitted && needs_attributes(op.slot, q.state, op.to)) return -EINVAL;
  if (op.to == IB_QPS_RESET) {
    clear(op.slot);
    return 0;
  }
  if (op.to == IB_QPS_ERR) {
    enter_error(op.slot);
    return 0;
  }
  const Queues& peer = slots_[peer_of(op.slot)];
  const bool facing = peer.exists && peer.peer_life == q.life;
  if (op.to == IB_QPS_RTR) {
    q.peer_life = peer.life;
    q.fresh = true;
    q.established = false;
    q.rq_psn =
        facing && peer.state >= IB_QPS_RTS && peer.state <= IB_QPS_SQD ? peer.sq_psn : op.length;
  } else if (op.to == IB_QPS_RTS && q.state == IB_QPS_RTR) {
    const bool receives = peer.state >= IB_QPS_RTR && peer.state <= IB_QPS_SQD;
    q.sq_psn = facing && receives ? peer.rq_psn : op.length;
  }
  q.had_rts = q.had_rts || op.to == IB_QPS_RTS;
  q.state = op.to;
  return 0;
}

std::uint32_t Reference::free_sends(const Queues& q) const {
  return kSendSlots - q.held - static_cast<std::uint32_t>(q.sends.size());
}

int Reference::check_send(const Queues& q, const Operation& op, Flaw flaw) const {
  const std::size_t slot = op.slot;
  if (flaw == Flaw::kTooManySges || flaw == Flaw::kBadOpcode) return -EINVAL;
  const bool answers = op.opcode == IB_WR_RDMA_READ || is_atomic(op.opcode);
  if (answers && (!reliable(slot) || !q.had_rts)) return -EINVAL;
  if (datagram(slot) && !is_send(op.opcode)) return -EINVAL;
  if (free_sends(q) == 0) return -ENOMEM;
  if (is_local(op.opcode) && flaw == Flaw::kBadRkey) return -EINVAL;
  return flaw == Flaw::kLongInline || flaw == Flaw::kBadLkey ? -EINVAL : 0;
}

void Reference::append_send(std::size_t slot, const Operation& op, std::uint32_t index, Flaw flaw) {
  Send send;
  send.wr_id = wr_id_of(slot, op.id, index);
  send.opcode = op.opcode;
  send.flaw = window_closed(op) ? Flaw::kBadRkey : flaw;
  send.signaled = !op.unsignaled;
  send.length = is_atomic(op.opcode) ? 8 : op.length;
  if (is_local(op.opcode)) send.length = 0;
  send.own = op.key == Key::kOwn && send.length != 0 && !sent_inline(op);
  send.source = source_of(op.id, index);
  send.imm = op.id + index;
  send.solicited = op.solicited;
  send.peer_life = slots_[peer_of(slot)].life;
  slots_[slot].sends.push_back(send);
}

Posted Reference::post_send(const Operation& op) {
  Queues& q = slots_[op.slot];
  const bool refused = rules_.error_refuses_sends && q.state == IB_QPS_ERR;
  if (!may_post_sends(q.state) || refused) return {-EINVAL, 0};
  const bool idle = q.sends.empty();
  Posted result;
  for (int i = 0; i < op.count; ++i) {
    const Flaw flaw = i + 1 == op.count ? op.flaw : Flaw::kNone;
    const int error = check_send(q, op, flaw);
    if (error != 0) {
      result = {error, i};
      break;
    }
    append_send(op.slot, op, static_cast<std::uint32_t>(i), flaw);
    if (is_local(op.opcode)) {
      window_open_[op.slot] = op.opcode == IB_WR_REG_MR;
      q.key_moving = true;
    }
    q.moving = q.moving || q.state == IB_QPS_RTS;
  }
  // A short send alone on an idle queue is looped back before the post returns, once RTR has told
  // that the queue pair is.
  const bool alone = idle && op.count == 1 && !q.sends.empty() && q.sends.front().length <= kMtu;
  if (looped(op.slot) && q.peer_life != 0 && alone) run(op.slot, nullptr, false);
  return result;
}

Posted Reference::post_recv(const Operation& op) {
  Queues& q = slots_[op.slot];
  if (uses_srq(op.slot) || q.state == IB_QPS_RESET) return {-EINVAL, 0};
  for (int i = 0; i < op.count; ++i) {
    const Flaw flaw = i + 1 == op.count ? op.flaw : Flaw::kNone;
    if (flaw == Flaw::kTooManySges) return {-EINVAL, i};
    const std::uint64_t wr_id = wr_id_of(op.slot, op.id, static_cast<std::uint32_t>(i));
    if (q.state == IB_QPS_ERR) {
      complete(op.slot, true, {wr_id, rules_.flush_status, IB_WC_RECV});
      continue;
    }
    if (q.receives.size() == rules_.receive_slots) return {-ENOMEM, i};
    const std::uint32_t buffer = q.buffers_used++ % kBuffers;
    q.receives.push_back({wr_id, receives_of(op.slot) + buffer * kReceiveBytes,
                          flaw == Flaw::kBadLkey, op.key == Key::kOwn});
    q.fresh_receives = true;
    Queues& peer = slots_[peer_of(op.slot)];
    peer.moving = peer.moving || (!peer.sends.empty() && peer.state == IB_QPS_RTS);
  }
  return {};
}

Posted Reference::post_srq_recv(const Operation& op) {
  for (int i = 0; i < op.count; ++i) {
    const Flaw flaw = i + 1 == op.count ? op.flaw : Flaw::kNone;
    if (flaw == Flaw::kTooManySges) return {-EINVAL, i};
    if (shared_.size() >= shared_slots_) return {-ENOMEM, i};
    const std::uint32_t buffer = shared_buffers_used_++ % kBuffers;
    shared_.push_back({wr_id_of(kSharedMark, op.id, static_cast<std::uint32_t>(i)),
                       kSharedArea + buffer * kReceiveBytes, flaw == Flaw::kBadLkey});
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      Queues& sender = slots_[peer_of(slot)];
      const bool waits = !sender.sends.empty() && sender.state == IB_QPS_RTS;
      if (uses_srq(slot) && waits) sender.moving = true;
    }
  }
  return {};
}

// What is posted fails with the region: sends at once, receives when a message comes.
void Reference::reregister(std::size_t slot) {
  Queues& q = slots_[slot];
  const bool sends = q.held_own || std::ranges::any_of(q.sends, &Send::own);
  if (sends && !rules_.deregistration_spares_sends) enter_error(slot);
  for (Receive& receive : q.receives) receive.bad = receive.bad || receive.own;
}

int Reference::refusal(Refusal what) const {
  switch (what) {
    case Refusal::kCqInUse:
    case Refusal::kPdInUse:
    case Refusal::kSrqInUse:
      return -EBUSY;
    case Refusal::kBadType:
      return -EOPNOTSUPP;
    default:
      return -EINVAL;
  }
}

}  // namespace hcasim::differential
