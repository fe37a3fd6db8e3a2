// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/doorbell_unit.hpp"

#include "hca/event_moderation.hpp"
#include "hca/qp_control.hpp"
#include "hca/receive_queue_port.hpp"
#include "hca/wqe_fetch.hpp"
#include "hcasim/hw/bar.hpp"

namespace hcasim::hca {

namespace {
// Event arguments.
constexpr std::uint64_t kDispatch = 0;
constexpr std::uint64_t kDeliver = 1;
}  // namespace

DoorbellUnit::DoorbellUnit(Core& core)
    : Unit(core.engine, "doorbell"),
      core_(core),
      stage_(core.clock, core.parameters.doorbell.timing) {}

inline DoorbellUnit::Doorbell DoorbellUnit::decode(std::uint64_t offset, std::uint64_t value,
                                                   hw::Time arrival) {
  return {static_cast<std::uint32_t>(offset % hw::bar::kUarBytes), hw::bar::doorbell_number(value),
          hw::bar::doorbell_index(value), arrival};
}

// Doorbells arrive in order, so a stage that is free for this one has taken all before it.
bool DoorbellUnit::write_ahead(std::uint64_t offset, std::uint64_t value, hw::Time arrival) {
  const hw::Time edge = core_.clock.edge_after(arrival);
  if (!waiting_.empty() || stage_.next_free() > edge) return false;
  ++counters_.doorbells;
  dispatch(decode(offset, value, arrival), edge);
  return true;
}

bool DoorbellUnit::write(std::uint64_t offset, std::uint64_t value) {
  if (write_ahead(offset, value, now())) return true;
  const Doorbell doorbell = decode(offset, value, now());
  if (merge(doorbell)) return true;
  if (waiting_.size() >= core_.parameters.doorbell.fifo_depth) {
    ++counters_.stalled;
    stalled_ = true;
    return false;
  }
  ++counters_.doorbells;
  waiting_.push(doorbell);
  if (waiting_.size() == 1) arrange();
  return true;
}

bool DoorbellUnit::write_burst(std::uint64_t offset, const std::uint8_t* data,
                               std::uint32_t bytes) {
  const auto value = hw::load<std::uint64_t>(data);
  const Time edge = core_.clock.edge_after(now());
  if (!waiting_.empty() || stage_.next_free() > edge) {
    const bool taken = write(offset - hw::bar::kBlueFlame + hw::bar::kSendDoorbell, value);
    counters_.blue_flame_ignored += taken ? 1 : 0;
    return taken;
  }
  ++counters_.doorbells;
  constexpr std::uint32_t kWqe = hw::bar::kBlueFlameWqe;
  bursts_.push(&core_.wqe_fetch->keep({data + kWqe, bytes - kWqe}));
  Doorbell doorbell = decode(offset, value, now());
  doorbell.kind = kBurst;
  dispatch(doorbell, edge);
  return true;
}

bool DoorbellUnit::drained() {
  return waiting_.empty() && (dispatched_.empty() || dispatched_.front().arrival > now());
}

bool DoorbellUnit::merge(const Doorbell& doorbell) {
  if (doorbell.kind != hw::bar::kSendDoorbell && doorbell.kind != hw::bar::kReceiveDoorbell) {
    return false;
  }
  for (std::uint32_t i = 0; i < waiting_.size(); ++i) {
    Doorbell& other = waiting_[i];
    if (other.kind != doorbell.kind || other.number != doorbell.number) continue;
    other.index = doorbell.index;
    other.arrival = doorbell.arrival;  // no WQE is seen before its own doorbell is there
    ++counters_.doorbells;
    ++counters_.merged;
    return true;
  }
  return false;
}

inline void DoorbellUnit::dispatch(const Doorbell& doorbell, hw::Time edge) {
  dispatched_.push(doorbell);
  engine().schedule_from_outside(*this, stage_.enter_at_edge(edge), kDeliver);
}

// While the stage is busy a doorbell stays in the FIFO, where later ones can still merge into it.
void DoorbellUnit::arrange() {
  schedule(stage_.next_free() - core_.clock.period(), kDispatch);
}

void DoorbellUnit::dispatch_next() {
  dispatch(waiting_.pop(), stage_.next_free());
  if (!waiting_.empty()) arrange();
  if (stalled_) {
    stalled_ = false;
    host_->bar_ready();
  }
}

void DoorbellUnit::on_event(std::uint64_t argument) {
  if (argument == kDispatch) return dispatch_next();
  deliver(dispatched_.pop());
}

inline void DoorbellUnit::deliver(const Doorbell& doorbell) {
  const std::uint32_t number = doorbell.number;
  switch (doorbell.kind) {
    case hw::bar::kSendDoorbell:
      if (QueuePair* qp = core_.qp(number)) {
        return core_.wqe_fetch->doorbell(*qp, doorbell.index, doorbell.arrival);
      }
      break;
    case hw::bar::kReceiveDoorbell:
      if (core_.receive_queue->doorbell(number, doorbell.index)) return;
      break;
    case hw::bar::kCqArmDoorbell: {
      const bool solicited = (number & hw::bar::kArmSolicited) != 0;
      if (core_.moderation->arm(number & hw::bar::kNumberMask, solicited, doorbell.index)) return;
      break;
    }
    case hw::bar::kQpErrorDoorbell:
      if (QueuePair* qp = core_.qp(number)) return core_.qp_control->error_doorbell(*qp);
      break;
    case hw::bar::kTakeDoorbell:
      if (core_.receive_queue->take_doorbell(number, doorbell.index)) return;
      break;
    case hw::bar::kEqConsumerDoorbell:
      return;  // event queues are sized so that the adapter never waits for their consumer
    default:
      if (doorbell.kind == kBurst) return deliver_burst(doorbell);
      break;
  }
  ++counters_.bad;
}

void DoorbellUnit::deliver_burst(const Doorbell& doorbell) {
  FetchBuffer& wqe = *bursts_.pop();
  QueuePair* qp = core_.qp(doorbell.number);
  if (qp == nullptr) {
    core_.wqe_fetch->discard(wqe);
    ++counters_.bad;
    return;
  }
  const bool taken = core_.wqe_fetch->blue_flame(*qp, doorbell.index, doorbell.arrival, wqe);
  ++(taken ? counters_.blue_flame : counters_.blue_flame_ignored);
}

}  // namespace hcasim::hca
