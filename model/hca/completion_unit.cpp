// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/completion_unit.hpp"

#include <utility>

#include "hca/event_moderation.hpp"
#include "hca/event_unit.hpp"
#include "hca/qp_control.hpp"

namespace hcasim::hca {

CompletionUnit::CompletionUnit(Core& core)
    : Unit(core.engine, "completion"),
      core_(core),
      stage_(core.clock, core.parameters.completion.timing.with_latency(
                             core.parameters.cqc_cache.hit_latency_cycles)) {}

hw::Cqe& CompletionUnit::complete_send(const QueuePair& qp, hw::WcStatus status,
                                       std::uint64_t message) {
  Entry& entry = enter(Kind::kSend);
  entry.message = message;
  entry.cqn = qp.context.send_cqn;
  entry.solicited = status != hw::WcStatus::kSuccess;
  return begin_cqe(entry, qp.context.qpn, status);
}

hw::Cqe& CompletionUnit::complete_receive(const QueuePair& qp, hw::WcStatus status, bool solicited,
                                          std::uint64_t message) {
  Entry& entry = enter(Kind::kReceive);
  entry.message = message;
  entry.cqn = qp.context.recv_cqn;
  entry.solicited = solicited || status != hw::WcStatus::kSuccess;
  return begin_cqe(entry, qp.context.qpn, status);
}

inline hw::Cqe& CompletionUnit::begin_cqe(Entry& entry, std::uint32_t qpn, hw::WcStatus status) {
  entry.cqe = hw::Cqe{};
  entry.cqe.qpn = qpn;
  entry.cqe.status = status;
  if (!core_.caches.cqc.look_up(entry.cqn)) {
    entry.waits = true;
    core_.caches.cqc.fetch(entry.cqn, *this, first_ + entries_.size() - 1);
  }
  return entry.cqe;
}

void CompletionUnit::event_behind(const hw::Eqe& eqe) {
  enter(Kind::kEvent).eqe = eqe;
}

void CompletionUnit::call_behind(std::uint32_t qpn) {
  enter(Kind::kCall).cqn = qpn;
}

// An entry for the caller to fill in: it is looked at when it leaves the stage.
inline CompletionUnit::Entry& CompletionUnit::enter(Kind kind) {
  schedule(stage_.enter(now()));
  Entry& entry = entries_.add();
  entry.kind = kind;
  entry.waits = false;
  return entry;
}

void CompletionUnit::on_event(std::uint64_t) {
  ++ready_;
  drain();
}

void CompletionUnit::drain() {
  while (ready_ != 0 && !refreshing_ && deliver(entries_.front())) {
    entries_.drop();
    ++first_;
    --ready_;
  }
}

// False when the entry has to wait for the context of its CQ, or for the consumer's count.
inline bool CompletionUnit::deliver(Entry& entry) {
  if (entry.waits) return false;
  if (entry.kind == Kind::kEvent) {
    core_.event->raise(entry.eqe);
    return true;
  }
  if (entry.kind == Kind::kCall) {
    core_.qp_control->completions_written(entry.cqn);
    return true;
  }
  CompletionQueue* cq = core_.contexts.cqs.find(entry.cqn);
  if (cq == nullptr) return true;
  const auto held = static_cast<std::uint32_t>(cq->produced) - cq->consumed;
  const bool full = held >= cq->context.cqe;
  if (cq->overflow || (full && fresh_cqn_ == entry.cqn)) {
    overflow(*cq, entry.cqe.qpn);
    return true;
  }
  if (full) {
    refreshing_ = true;
    ++counters_.consumer_reads;
    core_.dma.read(cq->context.consumer_record, &record_, sizeof record_, *this, entry.cqn);
    return false;
  }
  write(*cq, entry);
  return true;
}

void CompletionUnit::on_context(std::uint64_t sequence) {
  entries_[static_cast<std::uint32_t>(sequence - first_)].waits = false;
  drain();
}

void CompletionUnit::on_dma_read(std::uint64_t token, bool error) {
  refreshing_ = false;
  CompletionQueue* cq = core_.contexts.cqs.find(static_cast<std::uint32_t>(token));
  if (cq != nullptr && !error) cq->consumed = record_.count;
  fresh_cqn_ = static_cast<std::uint32_t>(token);  // if that ring is full now, it really is
  drain();
  fresh_cqn_ = kNone;
}

void CompletionUnit::count_error(hw::WcStatus status, bool receive) {
  if (status == hw::WcStatus::kWrFlushErr) {
    ++(receive ? counters_.resp_cqe_flush_error : counters_.req_cqe_flush_error);
    return;
  }
  ++counters_.cqe_error;
  ++(receive ? counters_.resp_cqe_error : counters_.req_cqe_error);
}

inline void CompletionUnit::write(CompletionQueue& cq, Entry& entry) {
  entry.cqe.owner = cq.owner;
  const hw::Time visible =
      core_.dma.write(cq.context.base + std::uint64_t{64} * cq.slot, &entry.cqe, sizeof entry.cqe);
  ++cq.produced;
  if (entry.solicited) cq.solicited = static_cast<std::uint32_t>(cq.produced);
  if (++cq.slot == cq.context.cqe) {
    cq.slot = 0;
    cq.owner ^= 1;
  }
  ++counters_.cqes;
  const bool receive = entry.kind == Kind::kReceive;
  if (entry.cqe.status != hw::WcStatus::kSuccess) count_error(entry.cqe.status, receive);
  core_.stamp(entry.message, receive ? Stamp::kRecvCqeVisible : Stamp::kSendCqeVisible, visible);
  if (receive && core_.observer != nullptr) {
    core_.observer->receive_completed(entry.cqe.qpn, entry.message);
  }
  core_.moderation->completed(cq, entry.solicited);
}

void CompletionUnit::overflow(CompletionQueue& cq, std::uint32_t qpn) {
  const bool first = !std::exchange(cq.overflow, true);
  ++counters_.cq_overflow;
  QueuePair* qp = core_.qp(qpn);
  // What a queue pair flushes into the ring that brought it down is not reported again.
  if (!first && (qp == nullptr || qp->flushes())) return;
  hw::Eqe eqe{};
  eqe.type = hw::EqeType::kCqError;
  eqe.number = cq.context.cqn;
  core_.event->raise(eqe);
  if (qp != nullptr) core_.qp_control->fail(*qp, hw::WcStatus::kLocQpOpErr);
}

}  // namespace hcasim::hca
