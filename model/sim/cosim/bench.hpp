// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hca/receive_queue_rtl/receive_queue_library.hpp"
#include "sim/cosim/difference.hpp"
#include "sim/cosim/operation_source.hpp"
#include "sim/cosim/scoreboard_observer.hpp"
#include "sim/cosim/side.hpp"

namespace hcasim::sim::cosim {

/// Sees every cycle of a bench.
class CycleWatcher {
 public:
  CycleWatcher() = default;
  CycleWatcher(const CycleWatcher&) = delete;
  CycleWatcher& operator=(const CycleWatcher&) = delete;
  virtual ~CycleWatcher() = default;

  /// Cycle `n` has been run. @param now outputs of the first side in it @param unit the first side
  virtual void cycle(hca::Cycle n, const hw::rq::Inputs& in, const hw::rq::Outputs& now,
                     const hca::ReceiveQueueUnit& unit, const Scoreboard& scoreboard) = 0;
  /// Outputs of a further side in the cycle that is about to run.
  virtual void side(std::size_t /*index*/, const hw::rq::Outputs& /*now*/) {}
};

/// One life of all sides, from reset: the same inputs for all of them in every cycle, what they
/// show compared in every cycle, and what the first shows judged by the rules.
class Bench {
 public:
  /// @param sides the first says what is expected, and its outputs decide what the neighbours do
  /// @param watcher may be null, as may `observer`
  Bench(std::span<const Side> sides, const hw::rq::Parameters& parameters,
        CycleWatcher* watcher = nullptr, ScoreboardObserver* observer = nullptr);

  /// Runs until the source has nothing left and the unit has come to rest, or up to the first
  /// difference. @param beyond cycles to run after it
  std::optional<Difference> run(OperationSource& source, hca::Cycle beyond = 0);

  const Scoreboard& scoreboard() const { return scoreboard_; }
  const hca::ReceiveQueueUnit& unit() const { return *units_.front().unit; }
  /// Cycles that were run.
  hca::Cycle cycles() const { return cycle_; }

 private:
  struct Unit {
    std::unique_ptr<hca::ReceiveQueueUnit> unit;
    bool counts = true;        ///< its counters can be compared
    bool shows_queues = true;  ///< so can its snapshots
    hw::rq::PluginWidths widths{};
  };

  static std::vector<Unit> make_all(std::span<const Side> sides,
                                    const hw::rq::Parameters& parameters);
  void step(const hw::rq::Inputs& in);
  void step_units(const hw::rq::Inputs& in);
  void drain();
  bool at_rest();
  void compare(const hw::rq::Inputs& in);
  void compare_outputs(std::size_t index, hca::Cycle cycle);
  void compare_side(std::size_t index, std::uint32_t queue);
  void compare_at_end();
  void judge();
  void found(const std::optional<hca::PortDifference>& where, hca::Cycle cycle, std::size_t side,
             std::optional<std::uint32_t> queue = std::nullopt);
  std::uint32_t queue_to_look_at(const hw::rq::Inputs& in) const;
  std::optional<std::uint32_t> queue_of(const std::string& port, std::size_t side) const;

  std::span<const Side> sides_;
  std::vector<Unit> units_;
  CycleWatcher* watcher_;
  Scoreboard scoreboard_;
  StimulusDriver driver_;
  hw::rq::Outputs now_;
  hca::Cycle cycle_ = 0;
  hca::Cycle quiet_ = 0;  ///< cycles without a handshake, up to now
  std::optional<Difference> difference_;
};

}  // namespace hcasim::sim::cosim
