// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sim/cosim/scoreboard.hpp"

namespace hcasim::testbench {

using sim::cosim::Scoreboard;

/// What kind of traffic a random run sees. Chances are in percent per cycle.
struct StimulusProfile {
  std::string name;
  hw::rq::Parameters parameters;
  unsigned take = 40;
  unsigned peek = 10;  ///< of the takes
  unsigned doorbell = 30;
  unsigned bad_doorbell = 2;  ///< of the doorbells
  unsigned command = 10;
  unsigned wild_command = 5;   ///< of the commands: any operation, any argument
  unsigned leave = 20;         ///< of the commands to a READY queue: PAUSE, TO_ERROR, INVALIDATE
  unsigned unknown_queue = 1;  ///< of takes, doorbells and commands
  unsigned dma_beat = 90;
  unsigned dma_delay = 20;  ///< most cycles from request to first beat
  bool dma_in_order = false;
  unsigned dma_error = 0;  ///< per mille of the beats
  unsigned cmd_rsp_ready = 80;
  unsigned dma_req_ready = 80;
  unsigned take_rsp_ready = 80;
  unsigned event_ready = 80;
  unsigned smallest_ring = 1;
  unsigned largest_ring = 16;
  std::vector<std::uint16_t> strides{32, 64, 128, 256, 512};
};

/// Random neighbours of the unit: responder, software and memory. They hold what is not accepted,
/// and know what the scoreboard knows.
class Stimulus {
 public:
  Stimulus(const StimulusProfile& profile, const Scoreboard& scoreboard, std::uint64_t seed);

  /// Inputs of the next cycle, whose outputs are `now`.
  const hw::rq::Inputs& next(hca::Cycle n, const hw::rq::Outputs& now);

  /// From now on only answers, and everything is accepted.
  void drain() { draining_ = true; }

 private:
  unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }
  bool chance(unsigned percent) { return below(100) < percent; }
  std::uint32_t any_queue();
  void roll_take();
  void roll_doorbell();
  void roll_command();
  void roll_ring(hw::rq::Command& command, unsigned stride, unsigned posted);
  void roll_dma(hca::Cycle n);

  StimulusProfile profile_;
  const Scoreboard& scoreboard_;
  std::mt19937_64 random_;
  hw::rq::Inputs in_;
  hw::rq::Outputs last_;
  std::vector<unsigned> delays_;  ///< of each tag's request
  std::uint32_t next_take_ = 0;
  bool draining_ = false;
};

}  // namespace hcasim::testbench
