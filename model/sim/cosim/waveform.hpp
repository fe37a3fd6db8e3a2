// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cosim/bench.hpp"

namespace hcasim::sim::cosim {

struct FailingStimulus;

/// Keeps the ports of all sides in the last cycles.
class WaveRecorder final : public CycleWatcher {
 public:
  WaveRecorder(std::span<const Side> sides, std::size_t cycles);

  void side(std::size_t index, const hw::rq::Outputs& now) override { next_[index] = now; }
  void cycle(hca::Cycle n, const hw::rq::Inputs& in, const hw::rq::Outputs& now,
             const hca::ReceiveQueueUnit& unit, const Scoreboard& scoreboard) override;

  /// A waveform of what is kept; one unit of its time is one cycle.
  std::string waveform() const;

 private:
  struct Frame {
    hca::Cycle cycle;
    hw::rq::Inputs in;
    std::vector<hw::rq::Outputs> outputs;
  };

  std::vector<std::string> names_;
  std::size_t most_;
  std::vector<hw::rq::Outputs> next_;
  std::deque<Frame> frames_;
};

/// A save file for GTKWave: the ports in groups, `marked` first and open, the marker on `cycle`.
/// @param waveform name of the file with the waveform @param marked port
std::string gtkwave_save(std::span<const Side> sides, std::string_view waveform, hca::Cycle cycle,
                         std::string_view marked);

/// Waveform of the cycles before a difference and of some behind it.
struct Waves {
  std::string waveform;
  std::string save;  ///< for GTKWave
};
Waves record_waves(std::span<const Side> sides, const FailingStimulus& failing,
                   std::string_view file_name);

}  // namespace hcasim::sim::cosim
