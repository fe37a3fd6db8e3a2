// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "sim/cosim/operation.hpp"
#include "sim/cosim/scoreboard.hpp"

namespace hcasim::sim::cosim {

/// The neighbours of a unit: turns operations into its inputs, cycle by cycle, by the protocol of
/// the ports. What is offered stays until it is accepted. An operation whose port still offers an
/// earlier one does nothing, so no operation shifts the time of another. The memory answers every
/// request on its own, with the content that the scoreboard knows.
class StimulusDriver {
 public:
  StimulusDriver(const hw::rq::Parameters& parameters, const Scoreboard& scoreboard);

  /// Begins a cycle in which the outputs are `now`.
  void begin(const hw::rq::Outputs& now);
  /// Does an operation in this cycle. kWait is not for the driver.
  void apply(const Operation& operation);
  /// Ends the preparation of cycle `n`: its inputs.
  const hw::rq::Inputs& finish(hca::Cycle n);

  bool take_offered() const { return in_.take_valid; }
  bool doorbell_offered() const { return in_.doorbell_valid; }
  bool command_offered() const { return in_.cmd_valid; }
  /// Cycles for which the ready of this output still follows a pattern.
  unsigned ready_cycles(OutputPort port) const {
    return ready_[static_cast<std::size_t>(port)].cycles;
  }

  /// Nothing new is offered, everything is accepted, and the memory answers at once.
  void drain();

  /// Address of a ring by its queue and the offset of an operation.
  static std::uint64_t address(std::uint32_t queue, std::uint32_t offset) {
    return ((std::uint64_t{queue} + 1) << 32U) + offset;
  }

 private:
  struct Ready {
    std::uint32_t pattern = 0;
    unsigned length = 1;
    unsigned at = 0;
    unsigned cycles = 0;
  };
  struct Memory {
    unsigned delay = 0;
    unsigned gap = 0;
    MemoryOrder order = MemoryOrder::kOldest;
  };

  void command(const Operation& operation);
  void post(const Operation& operation);
  void ready(const Operation& operation);
  bool next_ready(OutputPort port);
  bool due(unsigned tag, hca::Cycle n) const;
  bool before(unsigned tag, unsigned other) const;
  void memory(hca::Cycle n);
  void send_beat(unsigned tag, hca::Cycle n);
  void send_unknown();

  hw::rq::Parameters parameters_;
  const Scoreboard& scoreboard_;
  hw::rq::Inputs in_;
  hw::rq::Outputs last_;
  bool request_shown_ = false;
  std::array<Ready, kOutputPorts> ready_;
  Memory memory_;
  std::vector<unsigned> delays_;    ///< of each tag's request
  std::vector<hca::Cycle> paused_;  ///< the next beat of the tag comes not before this cycle
  unsigned turn_ = 0;
  int beat_of_ = -1;  ///< tag that an operation wants a beat of in this cycle
  int fault_ = -1;    ///< of the next beat
  std::uint32_t takes_ = 0;
};

}  // namespace hcasim::sim::cosim
