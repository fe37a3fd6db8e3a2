// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The cycle of the cross-check.
#include "sim/cosim/bench.hpp"

#include <algorithm>

#include "hca/receive_queue_rtl/rtl_receive_queue.hpp"

namespace hcasim::sim::cosim {

using namespace hw::rq;

namespace {

/// A unit without a handshake for so long has come to rest, if the memory answers at once.
constexpr hca::Cycle kRest = 200;
constexpr hca::Cycle kLongestDrain = 20'000;

}  // namespace

std::vector<Bench::Unit> Bench::make_all(std::span<const Side> sides,
                                         const Parameters& parameters) {
  std::vector<Unit> units;
  for (const Side& side : sides) {
    Unit unit{side.make(parameters)};
    if (const auto* const rtl = dynamic_cast<const hca::RtlReceiveQueue*>(unit.unit.get())) {
      unit.counts = rtl->counts();
      unit.shows_queues = rtl->shows_queues();
      unit.widths = rtl->library().plugin().widths;
    }
    units.push_back(std::move(unit));
  }
  return units;
}

Bench::Bench(std::span<const Side> sides, const Parameters& parameters, CycleWatcher* watcher,
             ScoreboardObserver* observer)
    : sides_(sides),
      units_(make_all(sides, parameters)),
      watcher_(watcher),
      scoreboard_(*units_.front().unit, observer),
      driver_(parameters, scoreboard_) {}

std::optional<Difference> Bench::run(OperationSource& source, hca::Cycle beyond) {
  // Sides that disagree out of reset would be missed, since outputs are compared after steps.
  for (std::size_t i = 1; i < units_.size(); ++i) compare_outputs(i, 0);
  while (!difference_) {
    driver_.begin(unit().outputs());
    if (!source.apply(driver_)) break;
    step(driver_.finish(cycle_));
  }
  if (!difference_) drain();
  for (hca::Cycle i = 0; difference_ && i < beyond; ++i) {
    driver_.begin(unit().outputs());
    source.apply(driver_);
    step(driver_.finish(cycle_));
  }
  return difference_;
}

void Bench::step(const Inputs& in) {
  now_ = unit().outputs();
  if (watcher_ != nullptr) {
    for (std::size_t i = 1; i < units_.size(); ++i) watcher_->side(i, units_[i].unit->outputs());
  }
  step_units(in);
  quiet_ = any_handshake(in, now_) ? 0 : quiet_ + 1;
  if (!difference_) compare(in);
  scoreboard_.cycle(cycle_, in, now_, unit().outputs());
  if (!difference_) judge();
  if (watcher_ != nullptr) watcher_->cycle(cycle_, in, now_, unit(), scoreboard_);
  ++cycle_;
}

void Bench::step_units(const Inputs& in) {
  for (std::size_t i = 0; i < units_.size(); ++i) {
    try {
      units_[i].unit->step(cycle_, in);
    } catch (const hca::RtlFault& fault) {
      found(hca::PortDifference{"assertion", "assertion", "none to fail", fault.what()}, cycle_, i);
    }
  }
}

void Bench::drain() {
  driver_.drain();
  const hca::Cycle last = cycle_ + kLongestDrain;
  quiet_ = 0;
  while (!difference_ && cycle_ < last && quiet_ < kRest) {
    driver_.begin(unit().outputs());
    step(driver_.finish(cycle_));
  }
  if (difference_) return;
  compare_at_end();
  if (difference_) return;
  scoreboard_.finish();
  judge();
}

void Bench::found(const std::optional<hca::PortDifference>& where, hca::Cycle cycle,
                  std::size_t side, std::optional<std::uint32_t> queue) {
  if (!where || difference_) return;
  difference_ = {cycle, sides_[side].name, *where, queue};
  if (!queue) difference_->queue = queue_of(where->port, side);
}

// One queue a cycle: the one that an input names, else each in its turn.
std::uint32_t Bench::queue_to_look_at(const Inputs& in) const {
  const std::uint32_t queues = unit().parameters().queues;
  if (in.cmd_valid && in.cmd.queue < queues) return in.cmd.queue;
  if (in.doorbell_valid && in.doorbell.queue < queues) return in.doorbell.queue;
  if (in.take_valid && in.take.queue < queues && (cycle_ & 1U) == 0) return in.take.queue;
  return static_cast<std::uint32_t>(cycle_ % queues);
}

void Bench::compare(const Inputs& in) {
  const std::uint32_t queue = queue_to_look_at(in);
  for (std::size_t i = 1; i < units_.size() && !difference_; ++i) compare_side(i, queue);
}

// A narrow build carries fewer bits of an address, a tag or a beat.
void Bench::compare_outputs(std::size_t index, hca::Cycle cycle) {
  const Outputs& expected = unit().outputs();
  const Outputs& actual = units_[index].unit->outputs();
  if (same_ports(expected, actual)) return;
  const PluginWidths& widths = units_[index].widths;
  found(hca::difference(widths == PluginWidths{} ? expected : hca::narrowed(expected, widths),
                        actual),
        cycle, index);
}

// Outputs are those of the next cycle; counters and snapshots are as of the end of this one.
void Bench::compare_side(std::size_t index, std::uint32_t queue) {
  const Unit& side = units_[index];
  compare_outputs(index, cycle_ + 1);
  if (side.counts) {
    const auto& expected = unit().counters();
    const auto& actual = side.unit->counters();
    if (expected != actual) found(hca::difference(expected, actual), cycle_, index);
  }
  if (!side.shows_queues) return;
  const auto differs = hca::difference(queue, unit().snapshot(queue), side.unit->snapshot(queue));
  found(differs, cycle_, index, queue);
}

void Bench::compare_at_end() {
  for (std::uint32_t queue = 0; queue < unit().parameters().queues; ++queue) {
    for (std::size_t i = 1; i < units_.size(); ++i) compare_side(i, queue);
  }
}

void Bench::judge() {
  if (scoreboard_.faults().empty()) return;
  // "cycle N: text" with, perhaps, a number at its end.
  std::string text = scoreboard_.faults().front();
  text.erase(0, text.find(": ") + 2);
  const std::string rule = text.substr(0, text.find_last_not_of("0123456789") + 1);
  found(hca::PortDifference{"rule", rule, "that it holds", text}, cycle_, 0);
}

std::optional<std::uint32_t> Bench::queue_of(const std::string& port, std::size_t side) const {
  const auto any = [&](bool Outputs::*valid) -> const Outputs& {
    const Outputs& first = unit().outputs();
    return first.*valid ? first : units_[side].unit->outputs();
  };
  if (port == "event") return any(&Outputs::event_valid).event.queue;
  if (port == "dma_req") {
    return static_cast<std::uint32_t>((any(&Outputs::dma_req_valid).dma_req.address >> 32U) - 1);
  }
  if (port == "take_rsp") {
    const std::uint32_t tag = any(&Outputs::take_rsp_valid).take_rsp.tag;
    for (const auto& w : scoreboard_.waits()) {
      if (w.take.tag == tag) return w.take.queue;
    }
    if (scoreboard_.answering()) return scoreboard_.answering()->take.queue;
  }
  if (port == "cmd_rsp") return scoreboard_.command_queue();
  return std::nullopt;
}

}  // namespace hcasim::sim::cosim
