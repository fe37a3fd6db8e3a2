// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/record/node_recorder.hpp"

#include <algorithm>
#include <utility>

#include "hcasim/hw/wr_opcode_kinds.hpp"

namespace hcasim::sim {

using hca::Stamp;

namespace {
/// When a message is known to be done, before its completion or without one.
Stamp stamp_of_success(const MessageRecord& record) {
  return record.reliable ? Stamp::kAcknowledged : Stamp::kLastPacketOut;
}
}  // namespace

NodeRecorder::NodeRecorder(RecordStore& store, std::uint16_t index, std::string name)
    : store_(store), index_(index), name_(std::move(name)) {}

void NodeRecorder::qp_created(std::uint32_t qpn, std::string_view name, bool reliable) {
  QpRecord& qp = qps_.named(qpn, name);
  empty_queues(qp, latest_);
  qp.shares = false;
  qp.reliable = reliable;
  qp.sends.restart();
  qp.completed.restart();
}

void NodeRecorder::qp_closed(std::uint32_t qpn, hw::Time at) {
  saw(at);
  QpRecord* const qp = qps_.find(qpn);
  if (qp != nullptr) empty_queues(*qp, at);
}

void NodeRecorder::empty_queues(QpRecord& qp, hw::Time at) {
  const auto sends = static_cast<std::int64_t>(qp.sends.size());
  const auto receives = static_cast<std::int64_t>(qp.receives);
  if (sends != 0) send_queue_.change(at, -sends);
  if (receives != 0) receive_queue_.change(at, -receives);
  while (!qp.sends.empty()) abandon(qp.sends.pop(), at);
  while (!qp.completed.empty()) {
    if (qp.completed.pop() != 0) completion_queue_.change(at, -1);
  }
  qp.receives = 0;
}

// The end of the QP or of the run comes before the software learns what became of a WQE.
void NodeRecorder::abandon(SendSlot slot, hw::Time at) {
  if (slot == kUnrecorded) return;
  if (slot == kLocalOperation) {
    ++totals_.local_operations_ended;
    return;
  }
  MessageRecord* const record = store_.find(slot);
  if (record == nullptr) return;
  if (record->has(Stamp::kSendCqeVisible)) completion_queue_.change(at, -1);
  const Stamp success = stamp_of_success(*record);
  if (record->has(success) && record->at(success) <= at) {
    count_end(*record, hw::WcStatus::kSuccess, record->at(success));
    return finish(*record, at);
  }
  ++totals_.of(record->opcode).unfinished;
  store_.close_behind(*record, at);
}

void NodeRecorder::send_posted(std::uint32_t qpn, hw::WrOpcode opcode, std::uint64_t bytes,
                               hw::Time at) {
  saw(at);
  QpRecord& qp = qps_.at(qpn);
  send_queue_.change(at, 1);
  SendSlot slot = kUnrecorded;
  if (store_.records(at)) {
    slot = is_message(opcode) ? open_message(qp, opcode, bytes, at) : kLocalOperation;
  }
  qp.sends.push(slot);
}

inline std::uint64_t NodeRecorder::open_message(const QpRecord& qp, hw::WrOpcode opcode,
                                                std::uint64_t bytes, hw::Time at) {
  const std::uint64_t message = store_.open();
  MessageRecord& record = store_.opened(message);
  record.bytes = hw::is_atomic(opcode) ? 8 : bytes;
  record.wqe = qp.sends.last();
  record.order = posted_++;
  record.qp = qp.name;
  record.node = index_;
  record.opcode = opcode;
  record.reliable = qp.reliable;
  record.stamp(Stamp::kPosted, at);
  totals_.first_post = std::min(totals_.first_post, at);
  return message;
}

void NodeRecorder::send_polled(std::uint32_t qpn, std::uint64_t count, hw::WcStatus status,
                               hw::Time at) {
  saw(at);
  QpRecord* const qp = qps_.find(qpn);
  if (qp == nullptr || !qp->sends.holds(count)) return;
  send_queue_.change(at, -static_cast<std::int64_t>(count + 1 - qp->sends.first()));
  while (qp->sends.first() != count) retire(qp->sends.pop(), hw::WcStatus::kSuccess, at, false);
  retire(qp->sends.pop(), status, at, true);
}

inline void NodeRecorder::retire(SendSlot slot, hw::WcStatus status, hw::Time at, bool polled) {
  MessageRecord* const record = store_.find(slot);
  if (record == nullptr) {
    if (slot != kLocalOperation) return;
    const bool good = status == hw::WcStatus::kSuccess;
    ++(good ? totals_.local_operations : totals_.local_operations_ended);
    return;
  }
  if (polled) record->stamp(Stamp::kSendPolled, at);
  if (record->has(Stamp::kSendCqeVisible)) completion_queue_.change(at, -1);
  count_end(*record, status, at);
  finish(*record, at);
}

inline void NodeRecorder::finish(MessageRecord& record, hw::Time at) {
  if (record.status != hw::WcStatus::kSuccess) return store_.close_behind(record, at);
  record.sender_done = true;
  record.done_at = at;
  if (record.receiver_done)
    return store_.close(record, std::max(at, record.at(Stamp::kRecvPolled)));
  const bool takes = hw::takes_receive(record.opcode);
  if (!record.reliable) {
    return takes ? store_.close_if_lost(record, at) : store_.close_behind(record, at);
  }
  // Who never saw the message will never poll it.
  if (!takes || !record.has(Stamp::kFirstPacketIn)) store_.close(record, at);
}

inline void NodeRecorder::count_end(MessageRecord& record, hw::WcStatus status, hw::Time at) {
  record.finished = true;
  record.status = status;
  OpcodeTotals& totals = totals_.of(record.opcode);
  if (status == hw::WcStatus::kWrFlushErr) {
    ++totals.flushed;
    return;
  }
  if (status != hw::WcStatus::kSuccess) {
    ++totals.errors[static_cast<std::size_t>(status) % totals.errors.size()];
    return;
  }
  ++totals.completed;
  totals.bytes += record.bytes;
  totals_.last_completion = std::max(totals_.last_completion, at);
  if (record.has(Stamp::kSendPolled) && record.reliable) {
    totals.latency.record(at - record.at(Stamp::kPosted));
  }
}

void NodeRecorder::receive_posted(std::uint32_t qpn, hw::Time at, std::uint64_t count) {
  saw(at);
  qps_.at(qpn).receives += count;
  receive_queue_.change(at, static_cast<std::int64_t>(count));
}

void NodeRecorder::shared_receive_posted(hw::Time at, std::uint64_t count) {
  saw(at);
  if (shared_queue_ == nullptr) {
    shared_queue_ = std::make_unique<Occupancy>();
    if (epoch_ != hw::kNever) shared_queue_->begin(epoch_);
  }
  shared_queue_->change(at, static_cast<std::int64_t>(count));
}

void NodeRecorder::shared_receives_gone(hw::Time at, std::uint64_t count) {
  saw(at);
  if (shared_queue_ != nullptr && count != 0) {
    shared_queue_->change(at, -static_cast<std::int64_t>(count));
  }
}

void NodeRecorder::receive_polled(std::uint32_t qpn, hw::WcStatus status, std::uint64_t bytes,
                                  hw::Time at) {
  saw(at);
  QpRecord& qp = qps_.at(qpn);
  if (qp.receives != 0) {
    --qp.receives;
    receive_queue_.change(at, -1);
  } else if (qp.shares) {
    shared_receives_gone(at, 1);
  }
  if (store_.records(at)) count_receive(status, bytes);
  const std::uint64_t message = qp.completed.empty() ? 0 : qp.completed.pop();
  if (message == 0) return;
  completion_queue_.change(at, -1);
  MessageRecord* const record = store_.find(message);
  if (record == nullptr || record->receiver_done || at > record->until) return;
  record->stamp(Stamp::kRecvPolled, at);
  record->receiver_done = true;
  if (!record->reliable && record->has(Stamp::kRecvCqeVisible)) {
    totals_.of(record->opcode)
        .latency.record(record->at(Stamp::kRecvCqeVisible) - record->at(Stamp::kPosted));
  }
  if (record->sender_done && record->finished && record->status == hw::WcStatus::kSuccess) {
    store_.close(*record, std::max(at, record->done_at));
  }
}

void NodeRecorder::count_receive(hw::WcStatus status, std::uint64_t bytes) {
  if (status == hw::WcStatus::kWrFlushErr) {
    ++totals_.receives_flushed;
  } else if (status != hw::WcStatus::kSuccess) {
    ++totals_.receives_failed;
  } else {
    ++totals_.receives_completed;
    totals_.received_bytes += bytes;
  }
}

std::uint64_t NodeRecorder::message_of(std::uint32_t qpn, std::uint64_t count) {
  const QpRecord* const qp = qps_.find(qpn);
  if (qp == nullptr || !qp->sends.holds(count)) return 0;
  const SendSlot slot = qp->sends.at(count);
  return slot == kLocalOperation ? 0 : slot;
}

void NodeRecorder::stamp(std::uint64_t message, Stamp stamp, hw::Time at) {
  MessageRecord* const record = store_.find(message);
  if (record != nullptr) record->stamp(stamp, at);
  if (stamp == Stamp::kSendCqeVisible || stamp == Stamp::kRecvCqeVisible) completion_entered(at);
}

// Apart, so that the many other stamps do not pay for it.
[[gnu::noinline]] void NodeRecorder::completion_entered(hw::Time at) {
  completion_queue_.change_later(at, 1);
}

void NodeRecorder::receive_completed(std::uint32_t qpn, std::uint64_t message) {
  qps_.at(qpn).completed.push(message);
}

void NodeRecorder::begin(hw::Time epoch) {
  epoch_ = epoch;
  for (Occupancy* queue : {&receive_queue_, &send_queue_, &completion_queue_}) queue->begin(epoch);
  if (shared_queue_ != nullptr) shared_queue_->begin(epoch);
}

void NodeRecorder::end(hw::Time end) {
  if (shared_queue_ != nullptr) shared_queue_->end(end);
  for (Occupancy* queue : {&receive_queue_, &send_queue_, &completion_queue_}) queue->end(end);
  qps_.for_each([&](QpRecord& qp) {
    while (!qp.sends.empty()) abandon(qp.sends.pop(), end);
  });
}

hw::Time NodeRecorder::last_acknowledgement() {
  hw::Time last = 0;
  qps_.for_each([&](QpRecord& qp) {
    for (std::uint64_t count = qp.sends.first(); count != qp.sends.last(); ++count) {
      const SendSlot slot = qp.sends.at(count);
      const MessageRecord* const record = slot == kLocalOperation ? nullptr : store_.find(slot);
      if (record == nullptr) continue;
      const Stamp success = stamp_of_success(*record);
      last = std::max(last, record->has(success) ? record->at(success) : hw::kNever);
    }
  });
  return last;
}

void NodeRecorder::append_occupancy(std::vector<OccupancyStatistics>& out) const {
  const auto append = [&](QueueKind kind, const Occupancy& queue) {
    OccupancyStatistics& statistics = out.emplace_back(queue.statistics());
    statistics.node = name_;
    statistics.queue = kind;
  };
  append(QueueKind::kReceive, receive_queue_);
  append(QueueKind::kSend, send_queue_);
  append(QueueKind::kCompletion, completion_queue_);
  if (shared_queue_ != nullptr) append(QueueKind::kSharedReceive, *shared_queue_);
}

}  // namespace hcasim::sim
