// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Random operations: rates, takes, doorbells, readys and memory.
#include "sim/cosim/generator.hpp"

#include <algorithm>

namespace hcasim::sim::cosim {

using namespace hw::rq;

Generator::Generator(const Profile& profile, const Parameters& parameters,
                     const Scoreboard& scoreboard, std::uint64_t seed, hca::Cycle cycles)
    : profile_(profile),
      now_(profile),
      parameters_(parameters),
      scoreboard_(scoreboard),
      random_(seed),
      cycles_(cycles) {
  // The first and the last queue and some between.
  const std::uint32_t used = std::min(profile.queues, parameters.queues);
  for (std::uint32_t i = 0; i < used; ++i) {
    const std::uint64_t last = parameters.queues - 1;
    ids_.push_back(static_cast<std::uint32_t>(used == 1 ? last : last * i / (used - 1)));
  }
  for (unsigned i = 0; i < 5; ++i) {
    if ((profile.strides >> i & 1U) != 0) strides_.push_back(static_cast<std::uint16_t>(32U << i));
  }
  operations_.reserve(std::min<std::size_t>(cycles * 2, 1U << 20U));
}

bool Generator::apply(StimulusDriver& driver) {
  if (cycle_ == cycles_) return false;
  if (cycle_ >= phase_end_) new_phase();
  if (!driver.take_offered() && chance(now_.take)) roll_take(driver);
  if (!driver.doorbell_offered()) roll_doorbell(driver);
  if (!driver.command_offered() && chance(now_.command)) roll_command(driver);
  roll_ready(driver);
  roll_memory(driver);
  wait_one();
  ++cycle_;
  return true;
}

void Generator::give(StimulusDriver& driver, const Operation& operation) {
  operations_.push_back(operation);
  driver.apply(operation);
}

void Generator::wait_one() {
  if (!operations_.empty() && operations_.back().kind == OperationKind::kWait) {
    ++operations_.back().count;
    return;
  }
  operations_.push_back({.kind = OperationKind::kWait, .count = 1});
}

std::uint32_t Generator::any_queue() {
  if (chance(now_.unknown_queue) && parameters_.queues < (1U << 24U) - 3) {
    return parameters_.queues + below(3);
  }
  return ids_[below(static_cast<unsigned>(ids_.size()))];
}

// Steady rates never let a buffer run full and then empty: rates change every few hundred cycles.
void Generator::new_phase() {
  now_ = profile_;
  phase_end_ = profile_.phases ? cycle_ + 50 + below(400) : hca::kNoCycle;
  if (!profile_.phases) return;
  switch (below(8)) {
    case 0:
      now_.take = 0;
      break;
    case 1:
      now_.doorbell = now_.doorbell / 4;
      now_.take = std::max(now_.take, 60U);
      break;
    case 2:
      now_.take = now_.doorbell = now_.command = 0;
      break;
    case 3:
      now_.take = now_.doorbell = now_.command = 2;
      break;
    case 4:
      now_.cmd_rsp_ready = now_.dma_req_ready = now_.take_rsp_ready = now_.event_ready = 100;
      break;
    case 5: {
      unsigned* const ready[] = {&now_.cmd_rsp_ready, &now_.dma_req_ready, &now_.take_rsp_ready,
                                 &now_.event_ready};
      *ready[below(4)] = 5;
      *ready[below(4)] = 5;
      break;
    }
    default:
      break;
  }
}

void Generator::roll_take(StimulusDriver& driver) {
  const bool peek = chance(now_.peek);
  give(driver, {.kind = peek ? OperationKind::kPeek : OperationKind::kTake, .queue = any_queue()});
}

void Generator::roll_doorbell(StimulusDriver& driver) {
  if (burst_ == 0 && below(1000) < now_.burst) {
    burst_ = 16;
    // Half of the bursts go to one queue.
    burst_queue_ = chance(50) ? any_queue() : ~0U;
  }
  if (burst_ == 0 && !chance(now_.doorbell)) return;
  const bool in_burst = burst_ != 0;
  if (in_burst) --burst_;
  const std::uint32_t queue = in_burst && burst_queue_ != ~0U ? burst_queue_ : any_queue();
  if (queue >= parameters_.queues || (!in_burst && chance(now_.wild_doorbell))) {
    give(driver,
         {.kind = OperationKind::kDoorbell, .queue = queue, .head = below(now_.largest_ring + 2)});
    return;
  }
  const Scoreboard::Queue& q = scoreboard_.queue(queue);
  if (q.state != QueueState::kReady && !in_burst) return;
  const unsigned size = std::max(1U, q.size);
  const unsigned slots = chance(now_.fill) ? size : in_burst ? below(2) : below(size);
  give(driver, {.kind = OperationKind::kPost, .queue = queue, .count = slots});
}

void Generator::roll_ready(StimulusDriver& driver) {
  const unsigned rates[kOutputPorts] = {now_.cmd_rsp_ready, now_.dma_req_ready, now_.take_rsp_ready,
                                        now_.event_ready};
  for (std::uint32_t port = 0; port < kOutputPorts; ++port) {
    if (rates[port] == 100 || driver.ready_cycles(static_cast<OutputPort>(port)) != 0) continue;
    std::uint32_t pattern = 1;
    for (unsigned bit = 0; bit < kPatternBits; ++bit) {
      pattern = pattern << 1U | (chance(rates[port]) ? 1U : 0U);
    }
    give(driver, {.kind = OperationKind::kReady,
                  .count = 16 + below(48),
                  .choice = port,
                  .pattern = pattern});
  }
}

void Generator::roll_memory(StimulusDriver& driver) {
  if (cycle_ == 0 || below(1000) < 50) {
    Operation operation{.kind = OperationKind::kMemory};
    operation.count = chance(30) ? 0 : below(now_.dma_delay + 1);
    operation.gap = chance(50) ? 0 : below(now_.dma_gap + 1);
    operation.choice = now_.dma_in_order ? 0 : below(3);
    give(driver, operation);
  }
  if (below(1000) >= now_.dma_fault) return;
  give(driver, {.kind = OperationKind::kFault, .choice = below(5)});
}

}  // namespace hcasim::sim::cosim
