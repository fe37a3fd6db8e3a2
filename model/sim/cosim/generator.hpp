// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <vector>

#include "sim/cosim/operation_source.hpp"
#include "sim/cosim/profile.hpp"

namespace hcasim::sim::cosim {

/// Random operations by profile and seed. It looks at what the scoreboard knows, so that most of
/// them make sense, and keeps a list of all it gave: the stimulus that replays the run.
class Generator final : public OperationSource {
 public:
  Generator(const Profile& profile, const hw::rq::Parameters& parameters,
            const Scoreboard& scoreboard, std::uint64_t seed, hca::Cycle cycles);

  bool apply(StimulusDriver& driver) override;

  const std::vector<Operation>& operations() const { return operations_; }

 private:
  unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }
  bool chance(unsigned percent) { return below(100) < percent; }
  void give(StimulusDriver& driver, const Operation& operation);
  void wait_one();
  std::uint32_t any_queue();
  void new_phase();
  void roll_take(StimulusDriver& driver);
  void roll_doorbell(StimulusDriver& driver);
  void roll_command(StimulusDriver& driver);
  Operation wild_command(std::uint32_t queue);
  Operation sensible_command(std::uint32_t queue);
  Operation leave(std::uint32_t queue);
  void roll_ring(Operation& operation, unsigned stride, unsigned posted);
  void roll_ready(StimulusDriver& driver);
  void roll_memory(StimulusDriver& driver);

  Profile profile_;
  Profile now_;  ///< the profile as the phase has changed it
  hw::rq::Parameters parameters_;
  const Scoreboard& scoreboard_;
  std::mt19937_64 random_;
  hca::Cycle cycles_;
  std::vector<std::uint32_t> ids_;  ///< queues in use
  std::vector<std::uint16_t> strides_;
  std::vector<Operation> operations_;
  hca::Cycle phase_end_ = 0;
  hca::Cycle cycle_ = 0;
  unsigned burst_ = 0;
  std::uint32_t burst_queue_ = 0;
};

}  // namespace hcasim::sim::cosim
