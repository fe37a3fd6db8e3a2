// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "hca/receive_queue/receive_queue_unit.hpp"
#include "hca/receive_queue_rtl/left_out_inputs.hpp"
#include "hca/receive_queue_rtl/receive_queue_library.hpp"

namespace hcasim::hca {

/// The RTL found a fault in itself, such as an assertion that failed. what() says in which cycle.
class RtlFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A receive-queue unit of a plug-in. It cannot look ahead: it wants each cycle until it is at
/// rest, which is when it is idle, or says so, or showed nothing for longer than it could work
/// unseen. Cycles that are left out although it was not at rest are run with what their inputs must
/// have been, before the next one.
class RtlReceiveQueue final : public ReceiveQueueUnit {
 public:
  /// `seed` of what registers hold before reset; 0: zeros.
  /// @throws ReceiveQueueLibraryError when the plug-in makes no unit
  explicit RtlReceiveQueue(std::shared_ptr<const ReceiveQueueLibrary> library,
                           std::uint64_t seed = 0);
  ~RtlReceiveQueue() override;

  /// @throws RtlFault
  const hw::rq::Outputs& step(Cycle cycle, const hw::rq::Inputs& inputs) override;
  const hw::rq::Outputs& outputs() const override { return out_; }
  Cycle next_activity() const override { return at_rest_ ? kNoCycle : next_; }
  /// All 0 when the plug-in does not count.
  const ReceiveQueueCounters& counters() const override;
  /// All 0 when the plug-in does not show it.
  hw::rq::Snapshot snapshot(std::uint32_t queue) const override;
  const hw::rq::Parameters& parameters() const override { return library_->plugin().parameters; }

  bool counts() const { return library_->plugin().counters != nullptr; }
  bool shows_queues() const { return library_->plugin().snapshot != nullptr; }
  const ReceiveQueueLibrary& library() const { return *library_; }
  /// Cycles that were run, and those that were not since the unit was at rest.
  Cycle cycles_run() const { return run_; }
  Cycle cycles_skipped() const { return next_ - run_; }

 private:
  void run_one(Cycle cycle, const hw::rq::Inputs& inputs);
  bool rests() const;

  std::shared_ptr<const ReceiveQueueLibrary> library_;
  void* unit_;
  hw::rq::Outputs out_;
  LeftOutInputs left_out_;
  Cycle next_ = 0;
  Cycle run_ = 0;
  Cycle silent_ = 0;  // cycles without input or output, up to now
  Cycle longest_silence_;
  bool at_rest_ = true;
  mutable ReceiveQueueCounters counters_;
};

}  // namespace hcasim::hca
