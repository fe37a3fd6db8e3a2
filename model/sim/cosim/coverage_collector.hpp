// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/cosim/bench.hpp"
#include "sim/cosim/coverage.hpp"

namespace hcasim::sim::cosim {

/// Sees what a unit does, through a scoreboard and on its ports, and counts the cover points. It
/// asks nothing of the unit but its ports, counters and snapshots, so it serves a random run and a
/// whole system alike.
class CoverageCollector final : public ScoreboardObserver, public CycleWatcher {
 public:
  /// @param coverage counts; must live as long
  explicit CoverageCollector(Coverage& coverage) : coverage_(coverage) {}

  void begin(const Scoreboard& scoreboard, const hw::rq::Parameters& parameters) override;
  void command(const hw::rq::Command& command, hw::rq::CommandStatus status,
               const Queue* queue) override;
  void doorbell(const hw::rq::Doorbell& doorbell, DoorbellEffect effect,
                const Queue* queue) override;
  void take(const hw::rq::Take& take, const Queue* queue) override;
  void judged(const Scoreboard::Wait& wait, const hw::rq::TakeBeat& beat, const Queue* queue,
              unsigned limit) override;
  void requested(const hw::rq::DmaRequest& request, std::uint32_t id, const Queue& queue) override;
  void beat(const hw::rq::DmaBeat& beat, const Request& request, bool live, bool failed) override;

  void cycle(hca::Cycle n, const hw::rq::Inputs& in, const hw::rq::Outputs& now,
             const hca::ReceiveQueueUnit& unit, const Scoreboard& scoreboard) override;

 private:
  static constexpr std::uint32_t kNobody = ~0U;

  /// What happened in the cycle, by the queue it happened to.
  struct Happenings {
    std::uint32_t command = kNobody;
    hw::rq::CommandOp op = hw::rq::CommandOp::kQuery;
    bool leaves = false;
    std::uint32_t doorbell = kNobody;
    bool bad_doorbell = false;
    std::uint32_t take = kNobody;
    std::uint32_t judged = kNobody;
    bool judged_wqe = false;
    std::uint32_t fetch = kNobody;
    std::uint32_t last_beat = kNobody;
  };

  void hit(CoverGroup group, unsigned first, unsigned second = 0, unsigned third = 0) {
    coverage_.hit(group, first, second, third);
  }
  void wrong_argument(const hw::rq::Command& command, const Queue& queue);
  void leaving(const hw::rq::Command& command, const Queue& queue);
  void ring(const hw::rq::Command& command, const Queue& queue);
  void set_limit(const hw::rq::Command& command, const Queue& queue);
  void judged_ok(const Scoreboard::Wait& wait, const hw::rq::TakeBeat& beat, const Queue& queue,
                 unsigned limit);
  void limit_after(std::uint32_t id, unsigned limit, unsigned remaining);
  void fetch_limit(const hw::rq::DmaRequest& request, const Queue& queue, unsigned first,
                   unsigned slots);
  void fetch_error(const Request& request, const Queue& queue);
  void storms(DoorbellEffect effect, std::uint32_t queue);
  const Scoreboard::Wait* oldest_take(std::uint32_t queue) const;

  void held(const hw::rq::Inputs& in, const hw::rq::Outputs& now);
  void answers(const hw::rq::Inputs& in, const hw::rq::Outputs& now);
  void event_stalls(const hw::rq::Outputs& next);
  bool limit_candidate(const hw::rq::Outputs& next) const;
  void resources(const hw::rq::Outputs& now);
  void meetings();
  void idle(const hw::rq::Inputs& in, const hw::rq::Outputs& now);
  void rates(const hw::rq::Inputs& in, const hw::rq::Outputs& now);
  void from_counters(const hca::ReceiveQueueCounters& counters);
  void end_of_cycle();

  Coverage& coverage_;
  const Scoreboard* scoreboard_ = nullptr;
  hw::rq::Parameters parameters_;
  Happenings now_;
  hca::ReceiveQueueCounters before_;
  std::vector<bool> limit_survived_;         ///< by queue: armed, and resumed since
  std::uint32_t start_wqe_queue_ = kNobody;  ///< whose WQE was on take_rsp at the cycle's start
  bool start_failed_tag_ = false;            ///< a request had failed at the cycle's start
  bool start_events_full_ = false;
  bool held_up_ = false;  ///< a beat of the answer was not accepted at once
  bool start_held_up_ = false;
  bool evicted_before_ = false;  ///< in the cycle before
  int unfinished_tag_ = -1;      ///< of the beat before, if more of it are to come
  unsigned storm_length_ = 0;
  unsigned equal_length_ = 0;
  unsigned bad_length_ = 0;
  bool storm_one_queue_ = false;
  std::uint32_t storm_queue_ = kNobody;
  unsigned rate_[3] = {0, 0, 0};
};

}  // namespace hcasim::sim::cosim
