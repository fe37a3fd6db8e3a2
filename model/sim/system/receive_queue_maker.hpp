// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hca/parameters.hpp"
#include "hca/receive_queue_rtl/lockstep_receive_queue.hpp"
#include "hcasim/sim/receive_queue_choice.hpp"
#include "sim/cosim/observed_unit.hpp"
#include "sim/output/output_set.hpp"
#include "sim/system/receive_queue_recording.hpp"

namespace hcasim::sim {

/// Makes the receive-queue units of a system, one for each adapter.
class ReceiveQueueMaker {
 public:
  /// @throws InputError when a plug-in cannot be used
  explicit ReceiveQueueMaker(const ReceiveQueueChoice& choice);

  /// The unit of the adapter of `node`.
  /// @throws InputError when the plug-ins were built for another configuration
  std::unique_ptr<hca::ReceiveQueueUnit> make(const std::string& node,
                                              const hca::Parameters& parameters);

  /// Cover points that the units have hit; empty unless they are counted.
  std::string coverage_table() const { return observed_ ? functional_.table() : std::string(); }
  /// The first breach of a rule that an observed unit showed; empty when there is none.
  std::string first_fault() const;
  /// What all units in lockstep have compared, as long as they live.
  hca::LockstepCoverage coverage() const;
  /// Names of the plug-ins, for messages; empty without one.
  std::string library_names() const;
  /// Writes what was recorded up to now. @param outputs gives the files their names; null: at once
  /// @throws OutputError
  void write_recordings(OutputSet* outputs);

 private:
  std::unique_ptr<hca::ReceiveQueueUnit> make_unit(const std::string& node,
                                                   const hw::rq::Parameters& parameters);
  std::unique_ptr<hca::ReceiveQueueUnit> observe(const std::string& node,
                                                 std::unique_ptr<hca::ReceiveQueueUnit> unit);
  std::unique_ptr<hca::ReceiveQueueUnit> make_lockstep(const std::string& node,
                                                       const hw::rq::Parameters& parameters);

  std::unique_ptr<hca::ReceiveQueueUnit> make_silent(const std::string& node,
                                                     const hca::Parameters& parameters);

  ReceiveQueueKind kind_;
  bool observed_;
  cosim::Coverage functional_;
  std::vector<std::pair<std::string, const cosim::ObservedUnit*>> observers_;
  std::string record_;
  std::deque<ReceiveQueueRecording> recordings_;
  std::vector<std::shared_ptr<const hca::ReceiveQueueLibrary>> libraries_;
  std::vector<const hca::LockstepReceiveQueue*> lockstep_;
};

}  // namespace hcasim::sim
