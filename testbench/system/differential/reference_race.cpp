// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// A queue pair of RC is taken to ERR while messages are under way in both directions. Time decides
// how many of each direction have arrived and how many were acknowledged; the rest follows.
#include <algorithm>

#include "reference.hpp"

namespace hcasim::differential {

using namespace rvt;

bool Reference::may_race(const Operation& op) const {
  return op.kind == Kind::kModifyQp && op.racing && op.to == IB_QPS_ERR && op.flaw == Flaw::kNone &&
         slots_[op.slot].exists && !looped(op.slot) && !pair_of(op.slot).shared && !hazard(op.slot);
}

// What a message that may or may not have arrived has left.
void Reference::undefine(std::size_t slot, const Send& send) {
  const std::size_t peer = peer_of(slot);
  const bool reads = send.opcode == IB_WR_RDMA_READ;
  if (reads || is_atomic(send.opcode)) {
    touched_.push_back({node_of(slot), landing_of(slot), kWindowBytes, true});
  }
  if (is_send(send.opcode)) {
    if (slots_[peer].receives.empty()) return;
    touched_.push_back({node_of(peer), slots_[peer].receives.front().offset, kReceiveBytes, true});
  } else if (!reads) {
    touched_.push_back({node_of(peer), window_of(peer), kWindowBytes, true});
  }
}

// One message at the peer. @param known it has arrived for certain @return it has, as was seen
bool Reference::land(std::size_t slot, const Send& send, bool done, bool known,
                     std::size_t& received) {
  const std::size_t peer = peer_of(slot);
  const bool taking = takes_receive(send.opcode);
  if (taking && (received == 0 || slots_[peer].receives.empty())) {
    undefine(slot, send);
    return false;
  }
  if (!taking && !known) {
    undefine(slot, send);
    return true;
  }
  if (is_send(send.opcode)) {
    write(node_of(peer), slots_[peer].receives.front().offset,
          memory_[node_of(slot)].data() + send.source, send.length);
  } else {
    move_data(slot, send);
  }
  if (!done && send.opcode != IB_WR_RDMA_WRITE && !taking) undefine(slot, send);
  if (!taking) return true;
  --received;
  Expected expected{slots_[peer].receives.front().wr_id, IB_WC_SUCCESS, IB_WC_RECV, send.length};
  if (!is_send(send.opcode)) expected.opcode = IB_WC_RECV_RDMA_WITH_IMM;
  expected.has_imm = send.opcode != IB_WR_SEND;
  expected.imm = send.imm;
  complete(peer, true, expected, send.solicited);
  slots_[peer].receives.pop_front();
  return true;
}

std::string Reference::race_one_way(std::size_t slot, const SeenEnd& here, std::size_t received) {
  const std::deque<Send> sends = slots_[slot].sends;
  const auto failed = std::ranges::find(sends, here.first_failed, &Send::wr_id);
  const auto done = static_cast<std::size_t>(failed - sends.begin());
  if (here.first_failed != 0 && failed == sends.end()) return "a send failed that was not posted";
  std::size_t last_received = 0;  // one behind it
  std::size_t left = received;
  for (std::size_t i = 0; i < sends.size() && left != 0; ++i) {
    if (!takes_receive(sends[i].opcode)) continue;
    --left;
    last_received = i + 1;
  }
  if (left != 0) return "more was received than sent";
  left = received;
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const bool known = i < done || i < last_received;
    if (!land(slot, sends[i], i < done, known, left) && i < done) {
      return "a send has succeeded whose message was not received";
    }
  }
  for (std::size_t i = 0; i < done; ++i) complete_send(slot, IB_WC_SUCCESS);
  return {};
}

std::string Reference::race(std::size_t slot, const std::array<SeenEnd, 2>& seen) {
  const std::size_t peer = peer_of(slot);
  slots_[slot].fresh = slots_[peer].fresh = false;
  std::string wrong = race_one_way(slot, seen[0], seen[1].received);
  if (wrong.empty()) wrong = race_one_way(peer, seen[1], seen[0].received);
  if (!wrong.empty()) return wrong;
  enter_error(slot);
  // The peer's oldest send finds nobody, and takes its queue pair along: settle() tells so.
  return {};
}

}  // namespace hcasim::differential
