// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "hca/receive_queue/fetch_fifo.hpp"
#include "hca/receive_queue/line_store.hpp"
#include "hca/receive_queue/port_buffer.hpp"
#include "hca/receive_queue/queue_store.hpp"
#include "hca/receive_queue/receive_queue_unit.hpp"
#include "hca/receive_queue/ring_fifo.hpp"
#include "hca/receive_queue/wait_table.hpp"

namespace hcasim::hca {

/// The receive-queue unit as an event-driven model of rtl/receive_queue/README.md. Nothing in its
/// state depends on the number of the cycle, so cycles without activity need not be stepped.
/// Allocates at construction and at the INIT of a queue, never in between.
class ReceiveQueueModel final : public ReceiveQueueUnit {
 public:
  /// Throws std::invalid_argument when a parameter is out of range.
  explicit ReceiveQueueModel(const hw::rq::Parameters& parameters);

  const hw::rq::Outputs& step(Cycle cycle, const hw::rq::Inputs& inputs) override;
  const hw::rq::Outputs& outputs() const override { return out_; }
  Cycle run(Cycle& cycle, Cycle last, const hw::rq::Inputs& in) override;
  Cycle next_activity() const override;
  Cycle next_output() const override;
  Cycle output_delay(const hw::rq::Take& take) const override;
  Cycle output_delay(const hw::rq::Doorbell& doorbell) const override;
  Cycle output_delay_of_beats(std::uint8_t tag) const override;
  const ReceiveQueueCounters& counters() const override { return counters_; }
  hw::rq::Snapshot snapshot(std::uint32_t queue) const override;
  const hw::rq::Parameters& parameters() const override { return parameters_; }

 private:
  using Inputs = hw::rq::Inputs;
  static constexpr unsigned kNone = 0xFFFF;

  /// A DMA request under way.
  struct Request {
    RqQueue* queue = nullptr;
    std::uint16_t first_slot = 0;
    std::uint16_t slots = 0;
    std::uint16_t expected = 0;         ///< beats
    std::uint16_t received = 0;         ///< beats
    std::uint16_t line = kNoLine;       ///< the next beat goes here
    std::uint16_t slot = kNoLine;       ///< first line of the WQE that the next beat belongs to
    std::uint16_t lines_in_flight = 0;  ///< lines from `slot` on
  };

  /// The command in progress, from its acceptance to the handshake of its answer.
  struct CommandRegister {
    bool busy = false;
    bool needs_requests_quiet = false;
    unsigned earlier_takes = 0;  ///< answers still to be accepted before quiet
    RqQueue* queue = nullptr;
    hw::rq::CommandStatus status = hw::rq::CommandStatus::kOk;
  };

  struct BufferedCommand {
    hw::rq::Command command;
    unsigned doorbells_before = 0;
  };

  /// What the take_rsp register holds beside the beat on the port.
  struct Answer {
    RqQueue* wqe_queue = nullptr;  ///< null unless the answer is a WQE
    std::uint32_t id = 0;
    std::uint16_t first_line = kNoLine;
    std::uint16_t line = kNoLine;
    std::uint8_t lines = 0;
    std::uint8_t beats_left = 0;  ///< after the one on the port
    bool counted = false;
  };

  /// What the inputs of a cycle and the control part meet, from the state at its start.
  struct Arrivals {
    const hw::rq::Doorbell* doorbell = nullptr;  ///< that is looked at
    std::uint64_t failed_tags = 0;               ///< the lowest one's event enters
    bool event_room = true;                      ///< for a doorbell or the take that fires
    bool command_free = true;
    bool doorbell_in = false;
    bool beat_known = false;
    bool take_in = false;
  };

  struct FetchChoice {
    enum Kind : std::uint8_t { kNothing, kFetch, kEvict, kDrop };
    Kind kind = kNothing;
    bool from_fifo = false;
    std::uint16_t slots = 0;
    RqQueue* queue = nullptr;
  };

  /// The queue, or null when it is unknown or was never initialised.
  RqQueue* find(std::uint32_t id) const {
    return id < parameters_.queues ? queues_.find(id) : nullptr;
  }

  // receive_queue_select.cpp
  unsigned held(const RqQueue& queue) const {
    return queue.distance(queue.tail, queue.fetch) + (answer_.wqe_queue == &queue ? 1U : 0U);
  }
  bool eligible(const RqQueue& queue) const {
    return queue.state == hw::rq::QueueState::kReady && queue.fetch != queue.head &&
           held(queue) < parameters_.prefetch;
  }
  static bool fires(const WaitEntry& entry) {
    if (entry.verdict != hw::rq::TakeStatus::kOk || entry.kind != hw::rq::TakeKind::kTake) {
      return false;
    }
    const RqQueue& queue = *entry.queue;
    return queue.limit != 0 && queue.posted() != 0 && queue.posted() - 1 < queue.limit;
  }
  // receive_queue_model.cpp
  void run_cycle(Cycle cycle, const Inputs& in, bool stirred);
  bool acts(const Inputs& in) const;
  Arrivals look_at(const Inputs& in) const;
  void accept(const Inputs& in, const Arrivals& arrivals);
  unsigned choose_take(const Inputs& in) const;
  FetchChoice choose_fetch() const;
  bool fetch_may_follow_answer() const;
  FetchChoice fetch_for(RqQueue& queue, bool from_fifo) const;
  RqQueue* victim() const;
  static bool fails(const Request& request, const hw::rq::DmaBeat& beat) {
    return beat.error || (beat.last && request.received + 1U < request.expected);
  }
  const Request* known(std::uint8_t tag) const {
    const bool in_use = tag < parameters_.tags && (((free_tags_ | failed_tags_) >> tag) & 1U) == 0;
    return in_use ? &requests_[tag] : nullptr;
  }
  /// Whether the request asked for this slot of its queue.
  static bool belongs(unsigned slot, const Request& request) {
    return request.queue->distance(request.first_slot, slot) < request.slots;
  }
  bool bad_after_judging(const hw::rq::Doorbell& doorbell, const WaitEntry& judged,
                         const Inputs& in) const;
  static bool bad_head(const RqQueue& queue, unsigned tail, unsigned head) {
    if (head >= queue.size) return true;
    if (head == queue.head) return false;
    return queue.distance(tail, head) < queue.distance(tail, queue.head);
  }

  // receive_queue_takes.cpp
  void accept_take_beat();
  void judge(unsigned index);
  void judge_take(RqQueue& queue);
  void judge_peek(const RqQueue& queue);
  void answer_without_wqe(hw::rq::TakeStatus status);
  void count_answer(hw::rq::TakeKind kind, hw::rq::TakeStatus status);
  void accept_take(const hw::rq::Take& take);
  void line_up(RqQueue& queue, std::uint8_t place);
  void flush_takes(RqQueue& queue, const Request* failed);
  /// Keeps what the masks say of the oldest waiting TAKE of a queue true after a change.
  void refresh(const RqQueue& queue) {
    if (queue.first_wait != kNoEntry) refresh_wait(queue);
  }
  void refresh_wait(const RqQueue& queue);
  void note_waits();

  // receive_queue_fetch.cpp
  void fetch_stage(const FetchChoice& choice);
  void start_request(RqQueue& queue, unsigned slots);
  void evict(RqQueue& queue);
  void enter_fifo(RqQueue& queue) {
    if (!queue.in_fifo && eligible(queue)) fetch_fifo_.push(queue);
  }
  void enter_failed_event(unsigned tag);
  void accept_beat(const hw::rq::DmaBeat& beat, bool is_known);
  void store_beat(Request& request, const hw::rq::Beat& data);
  void store_half(Request& request, const std::uint8_t* data);
  void count_line(Request& request);
  void end_request(unsigned tag, bool failed);
  void drop_buffered(RqQueue& queue);

  // receive_queue_control.cpp
  void doorbell_stage(const Inputs& in, const Arrivals& arrivals);
  bool ring(const hw::rq::Doorbell& doorbell, bool event_room);
  void leave(RqQueue& queue, hw::rq::QueueState state, const Request* failed);
  void raise(std::uint32_t queue, hw::rq::EventKind kind, std::uint32_t value);
  void serve_outputs(const Inputs& in);
  void show_control();
  bool control_acts(const Inputs& in) const;
  bool quiet() const;
  void answer_command();
  void buffer_command(const hw::rq::Command& command, bool doorbell_in);
  void command_stage(bool free);
  void start_command(const hw::rq::Command& command);
  hw::rq::CommandStatus check(const hw::rq::Command& command, const RqQueue* queue) const;
  void execute(const hw::rq::Command& command, RqQueue& queue);
  void load_ring(RqQueue& queue, const hw::rq::Command& command, std::uint16_t tail);
  unsigned count_earlier_takes(std::uint32_t id);
  static hw::rq::Snapshot snapshot_of(const RqQueue* queue);

  const FetchChoice& next_fetch() const {
    if (!fetch_chosen_) next_fetch_ = choose_fetch();
    fetch_chosen_ = true;
    return next_fetch_;
  }
  bool fetch_wanted() const { return !fetch_fifo_.empty() || waits_.needy != 0; }
  bool fetch_possible() const {
    return fetch_wanted() && next_fetch().kind != FetchChoice::kNothing;
  }

  hw::rq::Parameters parameters_;
  hw::rq::Outputs out_;
  QueueStore queues_;
  WaitTable waits_;
  LineStore lines_;
  FetchFifo fetch_fifo_;
  RingFifo<hw::rq::Event> events_;
  std::vector<Request> requests_;
  std::uint64_t free_tags_;
  std::uint64_t failed_tags_ = 0;
  unsigned outstanding_takes_ = 0;
  Answer answer_;
  CommandRegister command_;
  PortBuffer<hw::rq::Doorbell> doorbells_;
  PortBuffer<BufferedCommand> commands_;
  ReceiveQueueCounters counters_;
  bool control_ = false;  ///< a command, an event, a failed tag or a buffered doorbell is there
  Cycle cycle_ = 0;
  bool acts_ = false;               ///< the next cycle does something
  bool request_leaves_ = false;     ///< the next cycle sees the request on the port accepted
  mutable FetchChoice next_fetch_;  // chosen by a look ahead, from a state that still stands
  mutable bool fetch_chosen_ = false;
};

}  // namespace hcasim::hca
