// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/cosim/scoreboard.hpp"

namespace hcasim::sim::cosim {

/// Is told by a scoreboard what the unit accepts and decides, in the order of the steps of a cycle.
/// A queue is as it was before the thing happened, unless said otherwise; null: there is no such
/// queue.
class ScoreboardObserver {
 public:
  using Queue = Scoreboard::Queue;
  using Request = Scoreboard::Request;

  ScoreboardObserver() = default;
  ScoreboardObserver(const ScoreboardObserver&) = delete;
  ScoreboardObserver& operator=(const ScoreboardObserver&) = delete;
  virtual ~ScoreboardObserver() = default;

  /// A life begins: all that follows is of this scoreboard, until the next begins.
  virtual void begin(const Scoreboard& scoreboard, const hw::rq::Parameters& parameters) = 0;
  virtual void command(const hw::rq::Command& command, hw::rq::CommandStatus status,
                       const Queue* queue) = 0;
  virtual void doorbell(const hw::rq::Doorbell& doorbell, DoorbellEffect effect,
                        const Queue* queue) = 0;
  virtual void take(const hw::rq::Take& take, const Queue* queue) = 0;
  /// The answer of a take is on the port from the next cycle. `queue` is as after it; `limit` is
  /// the limit before it.
  virtual void judged(const Scoreboard::Wait& wait, const hw::rq::TakeBeat& beat,
                      const Queue* queue, unsigned limit) = 0;
  /// `request` is on the port from the next cycle; `fetch` of the queue is still the one before it.
  virtual void requested(const hw::rq::DmaRequest& request, std::uint32_t id,
                         const Queue& queue) = 0;
  /// A beat of a request that is under way. `live`: its queue is READY and has been since.
  virtual void beat(const hw::rq::DmaBeat& beat, const Request& request, bool live,
                    bool failed) = 0;
};

}  // namespace hcasim::sim::cosim
