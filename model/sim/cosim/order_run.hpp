// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sim/cosim/side.hpp"
#include "sim/cosim/stimulus_driver.hpp"

namespace hcasim::sim::cosim {

/// One side on its own: operations at the pace of the side, and what it showed.
class OrderRun {
 public:
  /// Something that was accepted on an output: only its port is valid.
  struct Entry {
    hca::Cycle cycle = 0;
    hw::rq::Outputs shown;
  };
  /// By port and queue, in order.
  using Log = std::map<std::pair<OutputPort, std::uint32_t>, std::vector<Entry>>;

  OrderRun(const Side& side, const hw::rq::Parameters& parameters);

  /// Does all of them, one after the other, and comes to rest.
  void run(std::span<const Operation> operations);

  const Log& log() const { return log_; }
  hca::Cycle cycles() const { return cycle_; }

 private:
  void perform(const Operation& operation);
  void step(const Operation* operation);
  void settle();
  bool offering() const;
  bool resting() const;
  void note(const hw::rq::Inputs& in, const hw::rq::Outputs& now);

  std::unique_ptr<hca::ReceiveQueueUnit> unit_;
  Scoreboard scoreboard_;
  StimulusDriver driver_;
  hca::Cycle cycle_ = 0;
  hca::Cycle quiet_ = 0;    ///< cycles without a handshake
  hca::Cycle resting_ = 0;  ///< cycles in which the side said that it rests
  std::map<std::uint32_t, std::uint32_t> queue_of_take_;
  std::uint32_t queue_of_command_ = 0;
  Log log_;
};

}  // namespace hcasim::sim::cosim
