// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Random commands.
#include <algorithm>

#include "sim/cosim/generator.hpp"

namespace hcasim::sim::cosim {

using namespace hw::rq;

void Generator::roll_command(StimulusDriver& driver) {
  const std::uint32_t queue = any_queue();
  const bool wild = queue >= parameters_.queues || chance(now_.wild_command);
  give(driver, wild ? wild_command(queue) : sensible_command(queue));
}

// Any operation, with arguments of which mostly one is wrong.
Operation Generator::wild_command(std::uint32_t queue) {
  Operation c{.kind = OperationKind::kCommand, .queue = queue};
  c.choice = below(8);
  const bool known = queue < parameters_.queues;
  // The arguments matter only where the operation is allowed.
  if (known && chance(50)) {
    const QueueState state = scoreboard_.queue(queue).state;
    if (state == QueueState::kPaused) c.choice = static_cast<unsigned>(CommandOp::kResume);
    if (state == QueueState::kInvalid) c.choice = static_cast<unsigned>(CommandOp::kInit);
  }
  const unsigned old = known ? std::max(32U, scoreboard_.queue(queue).stride) : 64;
  c.stride = strides_[below(static_cast<unsigned>(strides_.size()))];
  roll_ring(c, c.choice == static_cast<unsigned>(CommandOp::kResume) ? old : c.stride, 0);
  c.head = c.tail;
  c.limit = below(5);
  c.arm = static_cast<std::uint32_t>(random_());
  switch (below(7)) {
    case 0:
      c.size = 0;
      break;
    case 1:
      c.stride = 16U << below(7);
      break;
    case 2:
      c.offset += 32;
      break;
    case 3:
      c.head = c.size + below(2);
      break;
    case 4:
      c.tail = c.size + below(2);
      break;
    case 5:
      c.stride += 32;
      break;
    default:
      break;
  }
  return c;
}

void Generator::roll_ring(Operation& c, unsigned stride, unsigned posted) {
  const unsigned low = std::max(now_.smallest_ring, posted + 1);
  const unsigned high = std::max(now_.largest_ring, low);
  const unsigned alignment = std::max(kBeatBytes, stride);
  c.size = low + below(high - low + 1);
  c.tail = below(c.size);
  c.offset = below(1U << 16U) * alignment;
  // Half of the rings lie so that 4 KiB end inside them.
  if (chance(50)) {
    const unsigned before = 1 + below(std::max(1U, std::min(c.size, kDmaBoundary / alignment)));
    c.offset = c.offset / kDmaBoundary * kDmaBoundary + kDmaBoundary - before * alignment;
  }
}

Operation Generator::leave(std::uint32_t queue) {
  static constexpr OperationKind kLeave[] = {OperationKind::kPause, OperationKind::kToError,
                                             OperationKind::kInvalidate};
  return {.kind = kLeave[below(3)], .queue = queue};
}

Operation Generator::sensible_command(std::uint32_t queue) {
  const Scoreboard::Queue& q = scoreboard_.queue(queue);
  Operation set_limit{.kind = OperationKind::kSetLimit, .queue = queue};
  const Operation query{.kind = OperationKind::kQuery, .queue = queue};
  switch (q.state) {
    case QueueState::kInvalid: {
      Operation init{.kind = OperationKind::kInit, .queue = queue};
      init.stride = strides_[below(static_cast<unsigned>(strides_.size()))];
      roll_ring(init, init.stride, 0);
      init.head = chance(50) ? 0 : init.tail;
      init.tail = 0;
      return init;
    }
    case QueueState::kReady:
      if (chance(now_.leave)) return leave(queue);
      if (!chance(now_.set_limit)) return query;
      break;
    case QueueState::kPaused:
      if (chance(70)) {
        Operation resume{.kind = OperationKind::kResume, .queue = queue};
        roll_ring(resume, q.stride, Scoreboard::distance(q, q.tail, q.head));
        return resume;
      }
      if (chance(50)) return leave(queue);
      break;
    case QueueState::kError:
      if (!chance(80)) return query;
      return {.kind = chance(20) ? OperationKind::kToError : OperationKind::kInvalidate,
              .queue = queue};
  }
  const unsigned posted = Scoreboard::distance(q, q.tail, q.head);
  // On all sides of what is posted.
  set_limit.limit = chance(50) ? below(q.size + 1) : std::max(1U, posted + below(3)) - 1;
  set_limit.arm = static_cast<std::uint32_t>(random_());
  return set_limit;
}

}  // namespace hcasim::sim::cosim
