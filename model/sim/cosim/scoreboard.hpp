// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "hca/receive_queue/receive_queue_unit.hpp"

namespace hcasim::sim::cosim {

/// What a doorbell did, by the state it met.
enum class DoorbellEffect : std::uint8_t {
  kGood,        ///< moved the head
  kEqual,       ///< no effect: the head is there
  kBeyondSize,  ///< bad: not a slot of the ring
  kOverRun,     ///< bad: inside [tail, head)
  kPaused,      ///< bad: the queue is PAUSED
  kInvalid,     ///< bad: the queue is INVALID
  kUnknown,     ///< bad: there is no such queue
  kError        ///< no effect: the queue is in ERROR
};

/// Why a take got another verdict than its queue's content gives.
enum class FlushCause : std::uint8_t {
  kState,  ///< the state that it met
  kPause,
  kToError,
  kInvalidate,
  kDoorbell,
  kFetchError
};

class ScoreboardObserver;

/// Judges a receive-queue unit by what its ports do: the rules of the contract, without its
/// timing. It keeps the software's view of every queue and the host memory that the rings lie in.
/// When a buffered doorbell or command was accepted it learns from the unit's counters.
class Scoreboard {
 public:
  /// What software knows of a queue.
  struct Queue {
    hw::rq::QueueState state = hw::rq::QueueState::kInvalid;
    std::uint64_t base = 0;
    unsigned size = 0, stride = 64, head = 0, tail = 0, fetch = 0, limit = 0;
    std::uint32_t arm = 0;
    unsigned epoch = 0;                     ///< counts how often it left READY
    std::vector<std::uint32_t> generation;  ///< of what was last posted in each slot
    std::vector<bool> arrived;              ///< all beats of the slot came in this epoch
  };
  /// A DMA request from the cycle in which it was chosen until its tag is free.
  struct Request {
    bool used = false;
    bool issued = false;  ///< handshaken on dma_req
    bool ended = false;   ///< last beat came; failed, and its event has not entered
    std::uint32_t queue = 0;
    unsigned epoch = 0, first = 0, slots = 0, expected = 0, received = 0;
    std::uint64_t address = 0;
    hca::Cycle issue_cycle = 0;
  };

  /// A take from its acceptance until it is judged.
  struct Wait {
    hw::rq::Take take;
    std::optional<hw::rq::TakeStatus> verdict;
    FlushCause cause = FlushCause::kState;  ///< of the verdict
    bool counted = false;                   ///< the command in progress waits for it
    hca::Cycle accepted = 0;
    std::uint64_t events_before = 0;
  };

  /// @param observer is told what happens; may be null
  explicit Scoreboard(const hca::ReceiveQueueUnit& unit, ScoreboardObserver* observer = nullptr);

  /// Data of WQEs is that of another memory than read() shows: it is not judged. Rings may lie
  /// anywhere.
  void ignore_data() { judge_data_ = false; }

  /// Follows a unit of another latency, and one that does not count: doorbells and commands count
  /// as accepted when they are handshaken. It judges what it can; rules that name cycles fail.
  void follow_handshakes() { by_handshake_ = true; }

  /// Takes note of cycle n: its inputs, its outputs, and the outputs of the next cycle.
  void cycle(hca::Cycle n, const hw::rq::Inputs& in, const hw::rq::Outputs& now,
             const hw::rq::Outputs& next);

  /// Checks answers against the bound of the README. Only sound while every output is accepted at
  /// once and no queue is PAUSED; `dma_cycles` is D.
  void check_bound(std::uint64_t dma_cycles);

  /// Nothing may be left but takes of PAUSED queues. Call when the unit has come to rest.
  void finish();

  const std::vector<std::string>& faults() const { return faults_; }
  const Queue& queue(std::uint32_t id) const { return queues_[id]; }
  const std::vector<Request>& requests() const { return requests_; }
  const std::deque<Wait>& waits() const { return waits_; }
  /// The take whose answer is on take_rsp.
  const std::optional<Wait>& answering() const { return answering_; }
  bool answering_wqe() const { return answering_wqe_; }
  /// Doorbells and commands that were handshaken and not accepted.
  const std::deque<hw::rq::Doorbell>& buffered_doorbells() const { return doorbells_; }
  /// A doorbell would be bad, if it were accepted now.
  bool bad(const hw::rq::Doorbell& doorbell) const;
  std::size_t buffered_commands() const { return commands_.size(); }
  /// Events in the FIFO, the one on the port included.
  std::uint64_t events_held() const { return events_entered_ + limits_entered_ - events_gone_; }
  bool command_busy() const { return command_.has_value(); }
  /// Of the command in progress.
  std::optional<std::uint32_t> command_queue() const {
    return command_ ? std::optional(command_->command.queue) : std::nullopt;
  }
  /// The READY queue whose ring holds this address.
  std::optional<std::uint32_t> queue_at(std::uint64_t address) const;
  /// What lies in host memory.
  hw::rq::Beat read(std::uint64_t address) const;
  static unsigned distance(const Queue& q, unsigned from, unsigned to) {
    return (to + q.size - from) % q.size;
  }
  /// The longest a take waited from acceptance to the last beat of its answer, in cycles.
  std::uint64_t longest_wait() const { return longest_wait_; }

 private:
  struct ActiveCommand {
    hw::rq::Command command;
    hw::rq::CommandStatus status = hw::rq::CommandStatus::kOk;
  };

  void fault(const char* text);
  void fault(const char* text, std::uint64_t number);
  bool expect(bool good, const char* text) {
    if (!good) fault(text);
    return good;
  }
  bool expect(bool good, const char* text, std::uint64_t number) {
    if (!good) fault(text, number);
    return good;
  }
  bool known(std::uint32_t id) const { return id < queues_.size(); }
  std::uint64_t word(std::uint32_t id, unsigned slot, unsigned index) const;
  hw::rq::Beat wqe_beat(std::uint32_t id, unsigned slot, unsigned beat) const;

  void check_ports(const hw::rq::Inputs& in, const hw::rq::Outputs& now,
                   const hw::rq::Outputs& next);
  void check_command_answer(const hw::rq::Outputs& now, const hw::rq::Outputs& next);
  bool command_quiet() const;
  void handshakes(const hw::rq::Inputs& in, const hw::rq::Outputs& now);
  void accepted(const hca::ReceiveQueueCounters& after);
  void answer_beat(const hw::rq::TakeBeat& beat);
  void answered(const hw::rq::TakeBeat& beat);
  void check_wait();
  void take_rsp(const hw::rq::Inputs& in, const hw::rq::Outputs& now, const hw::rq::Outputs& next);
  void judged(const hw::rq::TakeBeat& beat);
  void judged_ok(const Wait& wait, const hw::rq::TakeBeat& beat);
  void requested(const hw::rq::DmaRequest& request);
  void failed_events(std::uint64_t count);
  void beat(const hw::rq::DmaBeat& beat);
  void arrive(Request& request, Queue& q);
  void doorbell(const hw::rq::Doorbell& doorbell);
  void command(const hw::rq::Command& command);
  hw::rq::CommandStatus check(const hw::rq::Command& command) const;
  void load(Queue& q, const hw::rq::Command& command, unsigned tail);
  void take(const hw::rq::Take& take);
  DoorbellEffect effect_of(const hw::rq::Doorbell& doorbell) const;
  void leave(std::uint32_t id, hw::rq::QueueState next, FlushCause cause,
             const Request* failed = nullptr);
  void event(const hw::rq::Event& event);
  void check_lines();

  const hca::ReceiveQueueUnit& unit_;
  ScoreboardObserver* observer_;
  bool judge_data_ = true;
  bool by_handshake_ = false;
  hw::rq::Parameters p_;
  hca::ReceiveQueueCounters before_;
  hca::Cycle cycle_ = 0;
  std::vector<Queue> queues_;
  std::vector<Request> requests_;
  std::deque<Wait> waits_;
  std::optional<Wait> answering_;
  bool answering_wqe_ = false;
  unsigned answer_beats_ = 0;
  std::vector<hw::rq::Beat> answer_data_;
  std::deque<hw::rq::Doorbell> doorbells_;
  std::deque<hw::rq::Command> commands_;
  std::optional<ActiveCommand> command_;
  bool answered_ = false;
  std::vector<hw::rq::Event> expected_events_;
  std::uint64_t events_entered_ = 0;
  std::uint64_t limits_entered_ = 0;
  std::uint64_t events_gone_ = 0;
  std::optional<std::uint64_t> dma_cycles_;
  std::uint64_t longest_wait_ = 0;
  std::vector<std::string> faults_;
};

}  // namespace hcasim::sim::cosim
