// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "generator.hpp"

#include <algorithm>
#include <array>

namespace hcasim::differential {
namespace {

using namespace rvt;

constexpr std::uint32_t kPsns = 1u << 24;
constexpr std::uint32_t kTooLongBytes = kReceiveBytes + 1000;
constexpr std::array<ib_wr_opcode, 7> kOpcodes = {
    IB_WR_SEND,      IB_WR_SEND_WITH_IMM,      IB_WR_RDMA_WRITE,          IB_WR_RDMA_WRITE_WITH_IMM,
    IB_WR_RDMA_READ, IB_WR_ATOMIC_CMP_AND_SWP, IB_WR_ATOMIC_FETCH_AND_ADD};

bool up(const Reference& reference, std::size_t slot) {
  return reference.queues(slot).exists && reference.queues(slot).state == IB_QPS_RTS;
}

bool names_own(const Queues& q) {
  return q.held_own || std::ranges::any_of(q.sends, &Send::own);
}

}  // namespace

Flaw Generator::send_flaw(ib_wr_opcode opcode) {
  if (one_in(400)) {
    if (is_send(opcode)) return Flaw::kTooLong;
    return is_atomic(opcode) && one_in(2) ? Flaw::kMisaligned : Flaw::kBadRkey;
  }
  if (!one_in(40)) return Flaw::kNone;
  constexpr std::array<Flaw, 4> kRefused = {Flaw::kTooManySges, Flaw::kBadOpcode, Flaw::kLongInline,
                                            Flaw::kBadLkey};
  return kRefused[below(kRefused.size())];
}

// A key of a region that may go, or a request that changes such a key.
void Generator::draw_key(const Reference& reference, Operation& op) {
  if (one_in(40)) {
    op.opcode = one_in(3) ? IB_WR_LOCAL_INV : IB_WR_REG_MR;
    op.count = 1;
    op.flaw = one_in(10) ? Flaw::kBadRkey : Flaw::kNone;
    return;
  }
  if (uses_window(op.opcode)) {
    if (one_in(3) && (reference.window_open(op.slot) || one_in(100))) op.key = Key::kFast;
    if (one_in(400)) op.key = Key::kStale;
  }
  if (op.key == Key::kNode && one_in(6)) op.key = Key::kOwn;
  if (op.key != Key::kNode) op.length = std::max(op.length, 8u);
}

Operation Generator::send(const Reference& reference) {
  Operation op;
  op.kind = Kind::kPostSend;
  op.slot = static_cast<std::uint8_t>(below(kSlots));
  op.opcode = kOpcodes[below(kOpcodes.size())];
  const std::size_t peer = peer_of(op.slot);
  const std::size_t posted =
      uses_srq(peer) ? reference.shared_posted() : reference.queues(peer).receives.size();
  const Queues& q = reference.queues(op.slot);
  if (takes_receive(op.opcode) && posted <= q.sends.size() && !one_in(20)) {
    op.opcode = IB_WR_RDMA_WRITE;
  }
  const bool answers = op.opcode == IB_WR_RDMA_READ || is_atomic(op.opcode);
  if (answers && !reliable(op.slot) && !one_in(20)) op.opcode = IB_WR_RDMA_WRITE;
  if (datagram(op.slot) && !is_send(op.opcode) && !one_in(20)) op.opcode = IB_WR_SEND;
  op.flaw = send_flaw(op.opcode);
  if (datagram(op.slot) && op.flaw == Flaw::kTooLong && one_in(2)) op.flaw = Flaw::kBadRkey;
  const std::uint32_t room = reference.free_sends(q);
  op.count = static_cast<std::uint8_t>(1 + below(kMostInList));
  if (room != 0 && !one_in(10))
    op.count = static_cast<std::uint8_t>(std::min<std::uint32_t>(op.count, room));
  op.unsignaled = room > kMostInList && one_in(4);
  op.solicited = one_in(4);
  op.length = below(one_in(10) ? kReceiveBytes + 1 : 257);
  if (datagram(op.slot)) op.length = std::min(op.length, kReceiveBytes - kGrhBytes);
  if (op.opcode == IB_WR_RDMA_WRITE_WITH_IMM) op.length = std::min(op.length, kMtu);
  if (op.flaw == Flaw::kTooLong) op.length = kTooLongBytes;
  if (op.flaw != Flaw::kNone || is_atomic(op.opcode)) op.length = std::max(op.length, 8u);
  // All requests of a list have its length.
  if (op.flaw == Flaw::kTooLong) op.count = 1;
  draw_key(reference, op);
  return op;
}

Operation Generator::receive(const Reference& reference) {
  Operation op;
  op.kind = one_in(6) ? Kind::kPostSrqRecv : Kind::kPostRecv;
  op.slot = static_cast<std::uint8_t>(below(kSlots));
  if (op.kind == Kind::kPostSrqRecv) op.slot = 0;
  op.count = static_cast<std::uint8_t>(1 + below(kMostInList));
  if (op.kind == Kind::kPostRecv && uses_srq(op.slot) && !one_in(20)) op.kind = Kind::kPostSrqRecv;
  if (op.kind == Kind::kPostSrqRecv) op.slot = 0;
  const std::size_t posted = op.kind == Kind::kPostSrqRecv
                                 ? reference.shared_posted()
                                 : reference.queues(op.slot).receives.size();
  if (posted != 0 && one_in(500)) op.flaw = Flaw::kBadLkey;
  if (one_in(80)) op.flaw = Flaw::kTooManySges;
  if (op.kind == Kind::kPostRecv && one_in(8)) op.key = Key::kOwn;
  return op;
}

void Generator::resize(const Reference& reference, Operation& op) {
  if (one_in(2)) {
    op.kind = Kind::kResizeSrq;
    op.slot = 0;
    const auto posted = static_cast<std::uint32_t>(reference.shared_posted());
    op.length = one_in(4) ? 1 + below(kMostSharedSlots) : std::max(posted, 16u);
    return;
  }
  op.kind = Kind::kResizeCq;
  op.slot = static_cast<std::uint8_t>(below(kCqs));
  const auto due = static_cast<std::uint32_t>(reference.due(op.slot));
  op.length = kLeastCqEntries + below(kCqEntries - kLeastCqEntries);
  if (one_in(2)) op.length = due < 2 ? 0 : due - 1;
}

Operation Generator::arm() {
  Operation op;
  op.kind = Kind::kArmCq;
  op.slot = static_cast<std::uint8_t>(below(kCqs));
  op.solicited = one_in(2);
  op.length = below(2);
  return op;
}

// One step of a pair on its way up.
Operation Generator::repair(const Reference& reference, std::size_t slot) {
  Operation op;
  op.kind = Kind::kModifyQp;
  op.slot = static_cast<std::uint8_t>(slot);
  op.length = below(kPsns);
  const Queues& q = reference.queues(slot);
  if (!q.exists) {
    op.kind = Kind::kCreateQp;
    return op;
  }
  switch (q.state) {
    case IB_QPS_RESET:
      op.to = IB_QPS_INIT;
      break;
    case IB_QPS_INIT:
      op.to = IB_QPS_RTR;
      if (reference.may_connect(slot)) break;
      op.slot = static_cast<std::uint8_t>(peer_of(slot));
      op.to = IB_QPS_RESET;
      if (!reference.queues(op.slot).exists) op.kind = Kind::kCreateQp;
      break;
    case IB_QPS_RTR:
    case IB_QPS_SQD:
      op.to = IB_QPS_RTS;
      break;
    default:
      op.to = IB_QPS_RESET;
      break;
  }
  return op;
}

// Takes a queue pair down while messages are under way, if any pair has some.
bool Generator::race(const Reference& reference, Operation& op) {
  constexpr std::uint32_t kLatest = 4'000;  // ns: by then most have arrived
  constexpr std::size_t kFew = 4;
  op.kind = Kind::kModifyQp;
  op.to = IB_QPS_ERR;
  op.racing = true;
  op.length = below(kLatest);
  const std::uint32_t first = below(kSlots);
  for (std::size_t i = 0; i < kSlots; ++i) {
    op.slot = static_cast<std::uint8_t>((first + i) % kSlots);
    if (reference.queues(op.slot).sends.size() >= kFew && reference.may_race(op)) return true;
  }
  return false;
}

Operation Generator::control(const Reference& reference) {
  constexpr std::size_t kLooks = 2 * kSlots;
  for (std::size_t i = 0; i < kLooks; ++i) {
    const std::size_t slot = below(kSlots);
    if (!up(reference, slot) && !one_in(6)) return repair(reference, slot);
  }
  Operation op;
  op.slot = static_cast<std::uint8_t>(below(kSlots));
  op.length = below(kPsns);
  const std::uint32_t kind = below(22);
  if (kind == 0) {
    op.kind = Kind::kDestroyQp;
  } else if (kind >= 20) {
    op.kind = Kind::kReregister;
    // Of a slot whose sends name the region, if there is one.
    for (std::size_t i = 0; i < kSlots && !names_own(reference.queues(op.slot)); ++i) {
      op.slot = static_cast<std::uint8_t>((op.slot + 1) % kSlots);
    }
  } else if (kind < 4) {
    op.kind = Kind::kRefused;
    op.slot = static_cast<std::uint8_t>(below(static_cast<std::uint32_t>(Refusal::kCount)));
  } else {
    op.kind = Kind::kModifyQp;
    op.to = static_cast<ib_qp_state>(below(IB_QPS_ERR + 1));
    if ((op.to == IB_QPS_RESET || op.to == IB_QPS_ERR) && one_in(2)) op.to = IB_QPS_SQD;
    constexpr std::array<Flaw, 4> kFlaws = {Flaw::kOmitted, Flaw::kForbidden, Flaw::kWrongCurrent,
                                            Flaw::kUnknownBit};
    if (one_in(3)) op.flaw = kFlaws[below(kFlaws.size())];
  }
  return op;
}

Operation Generator::draw(const Reference& reference) {
  const std::uint32_t what = below(1000);
  if (what < 490) return send(reference);
  if (what < 870) return receive(reference);
  if (what < 930 && one_in(5)) return arm();
  if (what < 965) {
    Operation op;
    op.kind = Kind::kPoll;
    op.slot = static_cast<std::uint8_t>(below(kCqs));
    op.count = static_cast<std::uint8_t>(1 + below(64));
    return op;
  }
  if (what < 975) {
    Operation op;
    op.kind = one_in(10) ? Kind::kQueryQp : Kind::kQuiet;
    op.slot = static_cast<std::uint8_t>(below(kSlots));
    if (one_in(6)) {
      op.kind = Kind::kArmSrq;
      op.length = below(one_in(3) ? kMostSharedSlots : 5);
    } else if (one_in(8)) {
      resize(reference, op);
    }
    return op;
  }
  Operation op;
  if (what >= 997 && race(reference, op)) return op;
  return control(reference);
}

Operation Generator::next(const Reference& reference, std::uint32_t id) {
  constexpr int kTries = 16;
  Operation op;
  for (int i = 0; i < kTries; ++i) {
    op = draw(reference);
    if (reference.skips(op)) continue;
    if (op.kind == Kind::kArmCq && reference.wants_quiet(op)) continue;
    const bool post =
        op.kind == Kind::kPostSend || op.kind == Kind::kPostRecv || op.kind == Kind::kPostSrqRecv;
    if (!post) break;
    const bool down = op.kind != Kind::kPostSrqRecv && !up(reference, op.slot);
    if (down && !one_in(6)) continue;
    const bool full =
        op.kind == Kind::kPostSend   ? reference.free_sends(reference.queues(op.slot)) == 0
        : op.kind == Kind::kPostRecv ? reference.queues(op.slot).receives.size() == kReceiveSlots
                                     : reference.shared_posted() == reference.shared_slots();
    if (one_in(50) || !(full || reference.wants_quiet(op))) break;
  }
  op.id = id;
  return op;
}

}  // namespace hcasim::differential
