// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "hca/receive_queue/receive_queue_unit.hpp"

namespace hcasim::testbench {

/// The receive-queue unit once more, as plainly as rtl/receive_queue/README.md reads: tables that
/// are searched in every cycle, nothing remembered that can be worked out. Slow, and meant to be
/// compared with the model and the RTL in every cycle. Its counters are those that decide nothing.
class ReferenceUnit final : public hca::ReceiveQueueUnit {
 public:
  explicit ReferenceUnit(const hw::rq::Parameters& parameters);

  const hw::rq::Outputs& step(hca::Cycle cycle, const hw::rq::Inputs& in) override;
  const hw::rq::Outputs& outputs() const override { return out_; }
  hca::Cycle next_activity() const override { return cycle_ + 1; }
  const hca::ReceiveQueueCounters& counters() const override { return counters_; }
  hw::rq::Snapshot snapshot(std::uint32_t queue) const override;
  const hw::rq::Parameters& parameters() const override { return p_; }

 private:
  struct Queue {
    hw::rq::QueueState state = hw::rq::QueueState::kInvalid;
    std::uint64_t base = 0;
    unsigned size = 0, stride = 64, head = 0, fetch = 0, tail = 0, limit = 0;
    std::uint32_t arm = 0;
  };
  struct Wait {
    hw::rq::Take take;
    std::optional<hw::rq::TakeStatus> verdict;
    bool counted = false;
    bool waited = false;
  };
  struct Line {
    bool used = false;
    bool dead = false;       ///< its queue has left READY
    bool answering = false;  ///< belongs to the answer in take_rsp
    bool filled = false;
    bool in_flight = false;
    std::uint32_t queue = 0;
    unsigned slot = 0, part = 0, tag = 0;
    std::uint64_t order = 0;
    hw::rq::Beat data{};
  };
  struct Tag {
    bool used = false;
    bool failed = false;
    std::uint32_t queue = 0;
    unsigned first = 0, slots = 0, expected = 0, received = 0;
  };
  struct PendingCommand {
    hw::rq::Command command;
    unsigned doorbells_before = 0;
  };
  struct CommandState {
    hw::rq::Command command;
    hw::rq::CommandStatus status = hw::rq::CommandStatus::kOk;
  };
  struct Answering {
    std::uint32_t queue = 0;
    bool wqe = false;
    bool counted = false;
    std::deque<unsigned> beats;  ///< lines of the beats still to come
  };
  enum class FetchAct { kNothing, kFetch, kEvict, kDrop };
  struct FetchPlan {
    FetchAct act = FetchAct::kNothing;
    bool pop = false;
    std::uint32_t queue = 0;
    unsigned slots = 0;
  };

  bool unknown(std::uint32_t id) const { return id >= p_.queues; }
  unsigned distance(const Queue& q, unsigned from, unsigned to) const;
  unsigned per_slot(const Queue& q) const;
  std::vector<unsigned> lines_of(std::uint32_t id, unsigned slot) const;
  bool complete(std::uint32_t id) const;
  unsigned held(std::uint32_t id) const;
  bool eligible(std::uint32_t id) const;
  bool waits(std::uint32_t id) const;
  bool needy(std::uint32_t id) const;
  bool answerable(std::size_t index) const;
  bool fires(const Wait& wait) const;
  unsigned free_lines() const;
  std::optional<unsigned> free_tag() const;
  unsigned requests_of(std::uint32_t id) const;
  unsigned earlier_takes() const;
  bool quiet() const;

  FetchPlan plan_fetch() const;
  FetchPlan plan_for(std::uint32_t id, bool pop) const;
  std::optional<std::uint32_t> victim() const;

  void enter(std::uint32_t id);
  void accept_take_beat();
  void judge(std::size_t index);
  void do_fetch(const FetchPlan& plan);
  void start_request(std::uint32_t id, unsigned slots);
  bool beat_fails(const hw::rq::DmaBeat& beat) const;
  bool known(unsigned tag) const;
  void dma(const hw::rq::DmaBeat& beat, bool is_known);
  void write_line(unsigned tag, unsigned slot, unsigned part, const std::uint8_t* data,
                  unsigned bytes);
  void leave(std::uint32_t id, hw::rq::QueueState next, std::optional<unsigned> failed_tag);
  bool doorbell_bad(const hw::rq::Doorbell& doorbell) const;
  bool doorbell_bad(const hw::rq::Doorbell& doorbell, unsigned tail) const;
  bool doorbell(const hw::rq::Doorbell& doorbell, bool room);
  void command(const hw::rq::Command& command);
  hw::rq::CommandStatus check(const hw::rq::Command& command) const;
  void execute(const hw::rq::Command& command);
  void take(const hw::rq::Take& take);
  void finish_cycle();

  hw::rq::Parameters p_;
  hw::rq::Outputs out_;
  hca::ReceiveQueueCounters counters_;
  hca::Cycle cycle_ = 0;
  std::vector<Queue> queues_;
  std::deque<Wait> waits_;
  std::vector<Line> lines_;
  std::vector<Tag> tags_;
  std::deque<std::uint32_t> fifo_;
  std::deque<hw::rq::Event> events_;
  std::deque<hw::rq::Doorbell> doorbells_;
  std::deque<PendingCommand> commands_;
  std::optional<CommandState> command_;
  Answering answering_;
  std::uint64_t order_ = 0;
};

}  // namespace hcasim::testbench
