// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "hca/receive_queue_rtl/rtl_receive_queue.hpp"

#include <utility>

namespace hcasim::hca {

namespace {

// Without inputs, and with nothing on an output, a unit can only drop entries of the fetch FIFO and
// evict, one a cycle, before it shows a request or waits for an input.
Cycle longest_silence(const hw::rq::Parameters& p) {
  constexpr Cycle kAnyLatency = 64;
  return Cycle{p.queues} + p.lines + kAnyLatency;
}

}  // namespace

RtlReceiveQueue::RtlReceiveQueue(std::shared_ptr<const ReceiveQueueLibrary> library,
                                 std::uint64_t seed)
    : library_(std::move(library)),
      unit_(library_->plugin().create(seed, &out_)),
      longest_silence_(longest_silence(library_->plugin().parameters)) {
  if (unit_ == nullptr) {
    throw ReceiveQueueLibraryError(library_->file(), "a unit that resets without a fault", "none");
  }
}

RtlReceiveQueue::~RtlReceiveQueue() {
  library_->plugin().destroy(unit_);
}

const hw::rq::Outputs& RtlReceiveQueue::step(Cycle cycle, const hw::rq::Inputs& inputs) {
  while (next_ < cycle && !at_rest_) run_one(next_, left_out_.inputs());
  run_one(cycle, inputs);
  return out_;
}

void RtlReceiveQueue::run_one(Cycle cycle, const hw::rq::Inputs& inputs) {
  const hw::rq::Plugin& plugin = library_->plugin();
  const hw::rq::Outputs before = out_;
  if (plugin.step(unit_, &inputs, &out_) != 0) {
    const char* const why = plugin.error(unit_);
    throw RtlFault(library_->file() + ": cycle " + std::to_string(cycle) + ": " +
                   (why != nullptr ? why : "a fault without a word"));
  }
  left_out_.after(inputs, before, out_);
  next_ = cycle + 1;
  ++run_;
  silent_ = hw::rq::any_valid(inputs) || hw::rq::shows(out_) ? 0 : silent_ + 1;
  at_rest_ = rests();
}

// A unit that is idle stays as it is, whatever the readys.
bool RtlReceiveQueue::rests() const {
  if (out_.idle) return true;
  const auto tells = library_->plugin().at_rest;
  return tells != nullptr ? tells(unit_) != 0 : silent_ > longest_silence_;
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
