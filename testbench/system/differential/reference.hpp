// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "operation.hpp"

namespace hcasim::differential {

/// Rules that can be told wrongly, to see that a difference is found.
struct Rules {
  std::uint32_t receive_slots = kReceiveSlots;
  bool error_refuses_sends = false;
  rvt::ib_wc_status flush_status = rvt::IB_WC_WR_FLUSH_ERR;
  bool tells_last_wqe = true;
  bool tells_comm_est = true;
  bool limit_stays = false;  ///< after its event
  bool stays_armed = false;  ///< after a notification
  bool all_are_solicited = false;
  bool invalid_keys_work = false;
  bool deregistration_spares_sends = false;
  bool looks_at_qkey = true;
  std::uint32_t resized_srq_slots = 0;  ///< other than asked for
};

/// A completion that has to come.
struct Expected {
  std::uint64_t wr_id = 0;
  rvt::ib_wc_status status = rvt::IB_WC_SUCCESS;
  rvt::ib_wc_opcode opcode = rvt::IB_WC_SEND;
  std::uint32_t byte_len = 0;
  std::uint32_t imm = 0;
  bool has_imm = false;
};

struct Send {
  std::uint64_t wr_id = 0;
  rvt::ib_wr_opcode opcode = rvt::IB_WR_SEND;
  Flaw flaw = Flaw::kNone;
  bool signaled = true;
  std::uint32_t length = 0;
  std::uint32_t source = 0;  ///< offset in the source area
  std::uint32_t imm = 0;
  bool solicited = false;
  std::uint32_t peer_life = 0;  ///< datagrams: to which life of the peer
  bool own = false;             ///< its data is named by the key of the slot's region
};

struct Receive {
  std::uint64_t wr_id = 0;
  std::uint32_t offset = 0;  ///< in the node's memory
  bool bad = false;          ///< its key is
  bool own = false;          ///< it is that of the slot's region
};

/// A queue pair as the rules know it.
struct Queues {
  bool exists = false;
  rvt::ib_qp_state state = rvt::IB_QPS_RESET;
  std::uint32_t life = 0;       ///< how often the slot was filled
  std::uint32_t peer_life = 0;  ///< which life of the peer it is connected to; 0: none
  bool had_rts = false;         ///< since it was made, so that it knows how many READs it may have
  bool fresh = false;           ///< nothing was exchanged since RTR
  bool established = false;     ///< has got a message in RTR
  std::uint32_t sq_psn = 0;     ///< first to send
  std::uint32_t rq_psn = 0;     ///< first expected
  std::deque<Send> sends;
  std::uint32_t held = 0;  ///< slots of unsignaled sends that nothing has given back
  bool held_own = false;   ///< one of them names the slot's region
  std::deque<Receive> receives;
  std::uint32_t buffers_used = 0;
  bool moving = false;          ///< its sends may be under way now
  bool key_moving = false;      ///< among them one that changes the key of its window
  bool fresh_receives = false;  ///< posted since nothing moved
  bool late_receive = false;    ///< has just failed: one more receive of the SRQ may be flushed
};

/// Return value of a post, and which request was refused: -1 none.
struct Posted {
  int error = 0;
  int bad = -1;
};

/// What a consumer is called for: an ib_event_type or kNotification, and the queue pair or the
/// completion queue that it is about; with how often.
using Calls = std::map<std::pair<int, std::size_t>, int>;
inline constexpr int kNotification = 20;

/// Who took which receive of the SRQ: the one thing that the rules leave to time.
using Owners = std::map<std::uint64_t, std::size_t>;

/// What was seen of one end of a pair that was taken down under traffic.
struct SeenEnd {
  std::uint64_t first_failed = 0;  ///< wr_id of the first send that failed; 0: none did
  std::size_t received = 0;        ///< receives that succeeded
};

struct Touched {
  std::size_t node = 0;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
  bool undefined = false;  ///< may hold anything
};

/// True for the moves of the slot that need more than the state.
bool needs_attributes(std::size_t slot, rvt::ib_qp_state from, rvt::ib_qp_state to);

/// The rules of rings, states and flushes, on their own: no time, no packets. Nothing of the driver
/// or the adapter is used but the numbers of the interface.
class Reference {
 public:
  Reference(const Rules& rules, std::uint64_t seed);

  /// True when a step would change nothing, as what it is about is not there.
  bool skips(const Operation& op) const;
  /// True when time might decide what the step does, unless all is quiet before.
  bool wants_quiet(const Operation& op) const;

  void create(std::size_t slot);
  void destroy(std::size_t slot);
  int modify(const Operation& op);
  Posted post_send(const Operation& op);
  Posted post_recv(const Operation& op);
  Posted post_srq_recv(const Operation& op);
  int refusal(Refusal what) const;
  /// The region of the slot goes, and comes again.
  void reregister(std::size_t slot);
  /// True when the peer's window can be reached by its present key.
  bool window_open(std::size_t slot) const { return window_open_[peer_of(slot)]; }
  /// Of the SRQ.
  int set_limit(std::uint32_t limit);
  int resize_srq(std::uint32_t slots);
  int resize_cq(std::size_t cq, std::uint32_t entries) const;
  std::uint32_t shared_slots() const { return shared_slots_; }
  int arm(std::size_t cq, bool solicited, bool report_missed);
  /// Takes back what a poll must deliver next of the queue. @return false: nothing is due
  bool take_expected(std::uint64_t wr_id, bool receive, Expected& expected);
  /// Calls since they were last taken.
  Calls take_calls() { return std::exchange(calls_, {}); }
  std::uint32_t limit() const { return limit_; }
  std::size_t due(std::size_t cq) const { return due_[cq]; }
  /// All that can happen happens.
  void settle(const Owners& owners);
  /// True for a step that may take a queue pair to ERR while messages are under way.
  bool may_race(const Operation& op) const;
  /// It does. How far the messages came is seen; what follows from it is not.
  /// @param seen of the queue pair and of its peer
  /// @return what cannot be; empty: nothing
  std::string race(std::size_t slot, const std::array<SeenEnd, 2>& seen);
  /// Completions of a queue that nobody has taken yet.
  std::size_t waiting(std::size_t slot, bool receive) const {
    return expected_[slot][receive ? 1 : 0].size();
  }
  /// Some send waits for a receive again and again.
  bool retries_without_end() const;

  const Queues& queues(std::size_t slot) const { return slots_[slot]; }
  std::size_t shared_posted() const { return shared_.size(); }
  std::uint32_t shared_buffers() const { return shared_buffers_used_; }
  std::size_t owner_of(std::uint64_t wr_id) const;
  std::uint32_t free_sends(const Queues& q) const;
  bool may_connect(std::size_t slot) const;
  std::vector<std::uint8_t>& memory(std::size_t node) { return memory_[node]; }
  std::vector<Touched>& touched() { return touched_; }
  const Rules& rules() const { return rules_; }

 private:
  enum class End { kDone, kWaits, kSenderFails };
  enum class Armed : std::uint8_t { kNot, kSolicited, kNext };

  bool reachable(std::size_t slot) const;
  bool hazard(std::size_t slot) const;
  bool both_would_move(std::size_t slot, bool with_hazard) const;
  void call(int what, std::size_t about) { ++calls_[{what, about}]; }
  void notify(std::size_t cq, bool urgent);
  void take_shared();
  void complete(std::size_t slot, bool receive, const Expected& expected, bool solicited = false);
  void complete_send(std::size_t slot, rvt::ib_wc_status status);
  void fail_receiver(std::size_t slot, rvt::ib_wc_status in_hand, const Receive* receive);
  void enter_error(std::size_t slot);
  void flush_receives(std::size_t slot);
  void clear(std::size_t slot);
  bool window_closed(const Operation& op) const;
  int check_send(const Queues& q, const Operation& op, Flaw flaw) const;
  void append_send(std::size_t slot, const Operation& op, std::uint32_t index, Flaw flaw);
  bool run(std::size_t slot, const Owners* owners, bool take_unseen);
  End carry_out(std::size_t slot, const Owners* owners, bool take_unseen);
  End unreachable_end(std::size_t slot);
  End message(std::size_t slot, const Owners* owners, bool take_unseen);
  End refused_by_peer(std::size_t slot, const Receive* receive, rvt::ib_wc_status in_hand,
                      rvt::ib_wc_status status);
  End no_receive(std::size_t slot);
  End with_receive(std::size_t slot, const Receive& receive);
  bool offers_receive(std::size_t slot, const Owners* owners, bool take_unseen) const;
  Receive take_receive(std::size_t slot);
  std::string race_one_way(std::size_t slot, const SeenEnd& here, std::size_t received);
  bool land(std::size_t slot, const Send& send, bool done, bool known, std::size_t& received);
  void undefine(std::size_t slot, const Send& send);
  bool flush_late(const Owners& owners);
  void move_data(std::size_t slot, const Send& send);
  void write(std::size_t node, std::uint32_t offset, const std::uint8_t* from, std::uint32_t bytes);

  Rules rules_;
  std::array<Queues, kSlots> slots_;
  std::deque<Receive> shared_;
  std::uint32_t shared_slots_ = kSharedSlots;
  std::uint32_t shared_buffers_used_ = 0;
  std::array<std::array<std::deque<Expected>, 2>, kSlots> expected_;
  std::map<std::uint64_t, std::size_t> shared_owner_;
  std::array<std::size_t, kCqs> due_{};
  std::uint32_t limit_ = 0;  ///< of the SRQ; 0: not armed
  std::array<Armed, kCqs> armed_{};
  Calls calls_;
  std::array<bool, kSlots> window_open_{};
  std::array<std::vector<std::uint8_t>, kNodes> memory_;
  std::vector<Touched> touched_;
};

}  // namespace hcasim::differential
