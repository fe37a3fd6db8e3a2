// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The cycle of the cross-check.
#include "sim/cosim/bench.hpp"

#include <algorithm>

namespace hcasim::sim::cosim {

using namespace hw::rq;

namespace {

/// A unit without a handshake for so long has come to rest, if the memory answers at once.
constexpr hca::Cycle kRest = 200;
constexpr hca::Cycle kLongestDrain = 20'000;

std::vector<std::unique_ptr<hca::ReceiveQueueUnit>> make_all(std::span<const Side> sides,
                                                             const Parameters& parameters) {
  std::vector<std::unique_ptr<hca::ReceiveQueueUnit>> units;
  for (const Side& side : sides) units.push_back(side.make(parameters));
  return units;
}

}  // namespace

Bench::Bench(std::span<const Side> sides, const Parameters& parameters, CycleWatcher* watcher,
             ScoreboardObserver* observer)
    : sides_(sides),
      units_(make_all(sides, parameters)),
      watcher_(watcher),
      scoreboard_(*units_.front(), observer),
      driver_(parameters, scoreboard_) {}

std::optional<Difference> Bench::run(OperationSource& source, hca::Cycle beyond) {
  // Sides that disagree out of reset would be missed, since outputs are compared after steps.
  for (std::size_t i = 1; i < units_.size(); ++i) {
    found(compare_ports(units_.front()->outputs(), units_[i]->outputs()), 0, i);
  }
  while (!difference_) {
    driver_.begin(units_.front()->outputs());
    if (!source.apply(driver_)) break;
    step(driver_.finish(cycle_));
  }
  if (!difference_) drain();
  for (hca::Cycle i = 0; difference_ && i < beyond; ++i) {
    driver_.begin(units_.front()->outputs());
    source.apply(driver_);
    step(driver_.finish(cycle_));
  }
  return difference_;
}

void Bench::step(const Inputs& in) {
  now_ = units_.front()->outputs();
  if (watcher_ != nullptr) {
    for (std::size_t i = 1; i < units_.size(); ++i) watcher_->side(i, units_[i]->outputs());
  }
  for (const auto& unit : units_) unit->step(cycle_, in);
  quiet_ = any_handshake(in, now_) ? 0 : quiet_ + 1;
  if (!difference_) compare(in);
  scoreboard_.cycle(cycle_, in, now_, units_.front()->outputs());
  if (!difference_) judge();
  if (watcher_ != nullptr) watcher_->cycle(cycle_, in, now_, *units_.front(), scoreboard_);
  ++cycle_;
}

void Bench::drain() {
  driver_.drain();
  const hca::Cycle last = cycle_ + kLongestDrain;
  quiet_ = 0;
  while (!difference_ && cycle_ < last && quiet_ < kRest) {
    driver_.begin(units_.front()->outputs());
    step(driver_.finish(cycle_));
  }
  if (difference_) return;
  compare_at_end();
  if (difference_) return;
  scoreboard_.finish();
  judge();
}

void Bench::found(std::optional<Difference> difference, hca::Cycle cycle, std::size_t side) {
  if (!difference || difference_) return;
  difference_ = std::move(difference);
  difference_->cycle = cycle;
  difference_->side = sides_[side].name;
  if (!difference_->queue) difference_->queue = queue_of(*difference_, side);
}

// One queue a cycle: the one that an input names, else each in its turn.
std::uint32_t Bench::queue_to_look_at(const Inputs& in) const {
  const std::uint32_t queues = units_.front()->parameters().queues;
  if (in.cmd_valid && in.cmd.queue < queues) return in.cmd.queue;
  if (in.doorbell_valid && in.doorbell.queue < queues) return in.doorbell.queue;
  if (in.take_valid && in.take.queue < queues && (cycle_ & 1U) == 0) return in.take.queue;
  return static_cast<std::uint32_t>(cycle_ % queues);
}

void Bench::compare(const Inputs& in) {
  const std::uint32_t queue = queue_to_look_at(in);
  for (std::size_t i = 1; i < units_.size() && !difference_; ++i) compare_side(i, queue);
}

// Outputs are those of the next cycle; counters and snapshots are as of the end of this one.
void Bench::compare_side(std::size_t index, std::uint32_t queue) {
  const hca::ReceiveQueueUnit& first = *units_.front();
  const hca::ReceiveQueueUnit& unit = *units_[index];
  if (!same_ports(first.outputs(), unit.outputs())) {
    found(compare_ports(first.outputs(), unit.outputs()), cycle_ + 1, index);
  }
  if (first.counters() != unit.counters()) {
    found(compare_counters(first.counters(), unit.counters()), cycle_, index);
  }
  auto snapshot = compare_snapshots(first.snapshot(queue), unit.snapshot(queue));
  if (snapshot) snapshot->queue = queue;
  found(std::move(snapshot), cycle_, index);
}

void Bench::compare_at_end() {
  for (std::uint32_t queue = 0; queue < units_.front()->parameters().queues; ++queue) {
    for (std::size_t i = 1; i < units_.size(); ++i) compare_side(i, queue);
  }
}

void Bench::judge() {
  if (scoreboard_.faults().empty()) return;
  // "cycle N: text" with, perhaps, a number at its end.
  std::string text = scoreboard_.faults().front();
  text.erase(0, text.find(": ") + 2);
  Difference d;
  d.port = "rule";
  d.field = text.substr(0, text.find_last_not_of("0123456789") + 1);
  d.expected = "that it holds";
  d.actual = text;
  found(std::move(d), cycle_, 0);
}

std::optional<std::uint32_t> Bench::queue_of(const Difference& d, std::size_t side) const {
  const auto& any = [&](bool Outputs::*valid) -> const Outputs& {
    const Outputs& first = units_.front()->outputs();
    return first.*valid ? first : units_[side]->outputs();
  };
  if (d.port == "event") return any(&Outputs::event_valid).event.queue;
  if (d.port == "dma_req") {
    return static_cast<std::uint32_t>((any(&Outputs::dma_req_valid).dma_req.address >> 32U) - 1);
  }
  if (d.port == "take_rsp") {
    const std::uint32_t tag = any(&Outputs::take_rsp_valid).take_rsp.tag;
    for (const auto& w : scoreboard_.waits()) {
      if (w.take.tag == tag) return w.take.queue;
    }
    if (scoreboard_.answering()) return scoreboard_.answering()->take.queue;
  }
  if (d.port == "cmd_rsp") return scoreboard_.command_queue();
  return std::nullopt;
}

}  // namespace hcasim::sim::cosim
