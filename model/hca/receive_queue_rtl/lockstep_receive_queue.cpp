// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "hca/receive_queue_rtl/lockstep_receive_queue.hpp"

#include <algorithm>
#include <utility>

namespace hcasim::hca {

namespace {

std::uint64_t judged(const ReceiveQueueCounters& c) {
  return c.takes_ok + c.takes_empty + c.takes_flushed + c.takes_bad_queue + c.takes_fetch_error +
         c.peeks_ok + c.peeks_empty + c.peeks_flushed + c.peeks_bad_queue;
}

std::string describe(const std::string& where, Cycle cycle, const PortDifference& difference,
                     const std::string& reference, const std::string& side) {
  return where + "cycle " + std::to_string(cycle) + ", " + difference.port + ", " +
         difference.field + ": expected " + difference.expected + " (" + reference + "), found " +
         difference.actual + " (" + side + ")";
}

}  // namespace

LockstepSide lockstep_side(std::string name, std::unique_ptr<ReceiveQueueUnit> unit) {
  return {std::move(name), std::move(unit)};
}

LockstepSide lockstep_side(std::unique_ptr<RtlReceiveQueue> unit) {
  const hw::rq::Plugin& plugin = unit->library().plugin();
  LockstepSide side{std::string(plugin.name) + ", " + plugin.backend, nullptr, unit->counts(),
                    unit->shows_queues(), plugin.widths};
  side.unit = std::move(unit);
  return side;
}

LockstepCoverage& LockstepCoverage::operator+=(const LockstepCoverage& other) {
  compared += other.compared;
  not_compared += other.not_compared;
  skipped += other.skipped;
  takes += other.takes;
  takes_missed += other.takes_missed;
  return *this;
}

std::string too_little(const LockstepCoverage& coverage) {
  if (coverage.takes_missed != 0) {
    return "the comparison missed " + std::to_string(coverage.takes_missed) + " takes";
  }
  const Cycle run = coverage.compared + coverage.not_compared;
  if (coverage.not_compared * 20 <= run) return {};
  return "only " + std::to_string(coverage.compared) + " of " + std::to_string(run) +
         " cycles were compared, less than 95 %";
}

LockstepMismatch::LockstepMismatch(const std::string& where, Cycle cycle, PortDifference difference,
                                   const std::string& reference, const std::string& side)
    : std::runtime_error(describe(where, cycle, difference, reference, side)),
      cycle_(cycle),
      difference_(std::move(difference)) {}

LockstepReceiveQueue::LockstepReceiveQueue(std::vector<LockstepSide> sides, std::string where)
    : sides_(std::move(sides)), where_(std::move(where)), out_(reference().outputs()) {
  for (const LockstepSide& side : sides_) compare_ports(0, side);
}

const hw::rq::Outputs& LockstepReceiveQueue::step(Cycle cycle, const hw::rq::Inputs& inputs) {
  while (next_ < cycle && !at_rest()) run_one(next_, left_out_.inputs());
  coverage_.skipped += cycle - next_;
  run_one(cycle, inputs);
  return out_;
}

bool LockstepReceiveQueue::at_rest() const {
  return std::ranges::all_of(
      sides_, [](const LockstepSide& side) { return side.unit->next_activity() == kNoCycle; });
}

void LockstepReceiveQueue::run_one(Cycle cycle, const hw::rq::Inputs& inputs) {
  const hw::rq::Outputs before = out_;
  for (const LockstepSide& side : sides_) side.unit->step(cycle, inputs);
  next_ = cycle + 1;
  watch(inputs);
  for (LockstepSide& side : sides_) compare(next_, side);
  ++coverage_.compared;
  coverage_.takes += inputs.take_valid && before.take_ready ? 1 : 0;
  left_out_.after(inputs, before, out_);
}

void LockstepReceiveQueue::watch(const hw::rq::Inputs& inputs) {
  if (inputs.take_valid) watched_ = inputs.take.queue;
  if (inputs.doorbell_valid) watched_ = inputs.doorbell.queue;
  if (inputs.cmd_valid) watched_ = inputs.cmd.queue;
  by_turns_ = by_turns_ + 1 < parameters().queues ? by_turns_ + 1 : 0;
}

void LockstepReceiveQueue::compare(Cycle cycle, LockstepSide& side) {
  compare_ports(cycle, side);
  if (&side == &sides_.front()) return;
  if (side.counts) check(cycle, side, difference(counters(), side.unit->counters()));
  if (!side.shows_queues) return;
  const std::uint32_t queue = cycle % 2 == 0 ? watched_ : by_turns_;
  check(cycle, side, difference(queue, snapshot(queue), side.unit->snapshot(queue)));
}

void LockstepReceiveQueue::compare_ports(Cycle cycle, const LockstepSide& side) {
  const hw::rq::Outputs& actual = side.unit->outputs();
  if (hw::rq::same_ports(out_, actual)) return;
  const hw::rq::Outputs expected =
      side.widths == hw::rq::PluginWidths{} ? out_ : narrowed(out_, side.widths);
  check(cycle, side, difference(expected, actual));
}

void LockstepReceiveQueue::check(Cycle cycle, const LockstepSide& side,
                                 const std::optional<PortDifference>& found) {
  if (found) throw LockstepMismatch(where_, cycle, *found, sides_.front().name, side.name);
}

LockstepCoverage LockstepReceiveQueue::coverage() const {
  LockstepCoverage coverage = coverage_;
  const std::uint64_t judged_takes = judged(counters());
  if (judged_takes > coverage.takes) coverage.takes_missed = judged_takes - coverage.takes;
  return coverage;
}

}  // namespace hcasim::hca
