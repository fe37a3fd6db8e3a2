// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/event_moderation.hpp"

#include "hca/event_unit.hpp"

namespace hcasim::hca {

namespace {

// Completions that the consumer had not seen when it armed.
std::uint32_t unseen(const CompletionQueue& cq) {
  return static_cast<std::uint32_t>(cq.produced) - cq.armed_at;
}

// A count or a period of 0 leaves nothing to wait for.
bool moderated(const hw::CqContext& context) {
  return context.cq_count > 1 && context.cq_period != 0;
}

}  // namespace

// Arming and completing are atomic: a completion that the consumer had not seen when it armed
// counts like one that comes later. `seen` says what it had read, not what it has given back.
bool EventModeration::arm(std::uint32_t cqn, bool solicited_only, std::uint32_t seen) {
  CompletionQueue* cq = core_.contexts.cqs.find(cqn);
  if (cq == nullptr) return false;
  const bool solicited = static_cast<std::int32_t>(cq->solicited - seen) > 0;
  if (solicited_only) {
    cq->armed_solicited = true;
    // The driver weakens no arming that is still wanted. What is held back was told to nobody yet.
    if (cq->release_at == hw::kNever) cq->armed = false;
    if (solicited) raise(*cq);
    return true;
  }
  cq->armed = true;
  cq->armed_at = seen;
  cq->release_at = hw::kNever;  // what was held back before has been seen by now
  if (static_cast<std::int32_t>(unseen(*cq)) > 0) moderate(*cq, solicited);
  return true;
}

void EventModeration::modify(CompletionQueue& cq, std::uint16_t count, std::uint16_t period) {
  cq.context.cq_count = count;
  cq.context.cq_period = period;
  if (cq.release_at == hw::kNever) return;
  cq.release_at = hw::kNever;
  moderate(cq, false);
}

void EventModeration::moderate(CompletionQueue& cq, bool urgent) {
  const bool enough = !moderated(cq.context) || unseen(cq) >= cq.context.cq_count;
  if (urgent || enough) return raise(cq);
  if (cq.release_at == hw::kNever) hold(cq);
}

void EventModeration::hold(CompletionQueue& cq) {
  ++counters_.held;
  cq.release_at = now() + cq.context.cq_period * hw::kMicrosecond;
  wake_at(cq, cq.release_at);
}

// One event a queue, at its earliest deadline; a later one is looked at when that has come.
void EventModeration::wake_at(CompletionQueue& cq, hw::Time deadline) {
  if (cq.wakes_at <= deadline) return;
  cq.wakes_at = deadline;
  schedule(deadline, cq.context.cqn);
}

void EventModeration::on_event(std::uint64_t cqn) {
  CompletionQueue* cq = core_.contexts.cqs.find(static_cast<std::uint32_t>(cqn));
  if (cq == nullptr || cq->wakes_at != now()) return;  // of a queue or a deadline that is gone
  cq->wakes_at = hw::kNever;
  if (cq->release_at > now()) {
    wake_at(*cq, cq->release_at);
    return;
  }
  ++counters_.expired;
  raise(*cq);
}

void EventModeration::raise(CompletionQueue& cq) {
  cq.armed = cq.armed_solicited = false;
  cq.release_at = hw::kNever;
  hw::Eqe eqe{};
  eqe.type = hw::EqeType::kCompletion;
  eqe.number = cq.context.cqn;
  eqe.value = cq.solicited;
  core_.event->raise(eqe, cq.context.eqn);
}

}  // namespace hcasim::hca
