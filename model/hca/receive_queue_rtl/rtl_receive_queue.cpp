// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "hca/receive_queue_rtl/rtl_receive_queue.hpp"

#include <utility>

namespace hcasim::hca {

RtlReceiveQueue::RtlReceiveQueue(std::shared_ptr<const ReceiveQueueLibrary> library,
                                 std::uint64_t seed)
    : library_(std::move(library)), unit_(library_->plugin().create(seed, &out_)) {
  if (unit_ == nullptr) {
    throw ReceiveQueueLibraryError(library_->file() +
                                   ": expected a unit, found none: its reset failed");
  }
}

RtlReceiveQueue::~RtlReceiveQueue() {
  library_->plugin().destroy(unit_);
}

const hw::rq::Outputs& RtlReceiveQueue::step(Cycle cycle, const hw::rq::Inputs& inputs) {
  // An idle unit stays as it is, whatever the readys.
  while (next_ < cycle && !out_.idle) run_one(next_, left_out_.inputs());
  run_one(cycle, inputs);
  return out_;
}

void RtlReceiveQueue::run_one(Cycle cycle, const hw::rq::Inputs& inputs) {
  const hw::rq::Plugin& plugin = library_->plugin();
  const hw::rq::Outputs before = out_;
  if (plugin.step(unit_, &inputs, &out_) != 0) {
    throw RtlFault(library_->file() + ": cycle " + std::to_string(cycle) + ": " +
                   plugin.error(unit_));
  }
  left_out_.after(inputs, before, out_);
  next_ = cycle + 1;
  ++run_;
}

const ReceiveQueueCounters& RtlReceiveQueue::counters() const {
  if (counts()) library_->plugin().counters(unit_, &counters_);
  return counters_;
}

hw::rq::Snapshot RtlReceiveQueue::snapshot(std::uint32_t queue) const {
  hw::rq::Snapshot snapshot;
  if (shows_queues()) library_->plugin().snapshot(unit_, queue, &snapshot);
  return snapshot;
}

}  // namespace hcasim::hca
