// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// How the posts and the control lines of a node wait for each other, and for the peer's.
#include <algorithm>

#include "sim/replay/data_process.hpp"
#include "sim/replay/line_error.hpp"

namespace hcasim::sim {

namespace {

// True when the post names this MR of its own node.
bool names(const WorkItem& item, NameId mr, bool peer_is_self) {
  if (item.is_send) {
    if (item.opcode == SendOpcode::kRegMr && item.mr == mr) return true;
    const bool own = item.opcode == SendOpcode::kLocalInv || peer_is_self;
    if (own && item.invalidate_named && item.invalidate == mr) return true;
    if (peer_is_self && item.remote_named && item.remote_mr == mr) return true;
  }
  return std::any_of(item.sges.begin(), item.sges.begin() + item.num_sge,
                     [mr](const Sge& sge) { return sge.mr == mr; });
}

bool ends_object(Verb verb) {
  return verb == Verb::kDeregMr || verb == Verb::kDestroyCq || verb == Verb::kDestroyQp ||
         verb == Verb::kDestroySrq;
}

}  // namespace

// --- Reading
// --------------------------------------------------------------------------------------

void DataProcess::take_control(const Operation& operation) {
  orders_matter_ = true;
  PendingControl control;
  control.operation = operation;
  control.number = own_order_.read();
  if (operation.verb == Verb::kConnect) {
    touch_connected(objects_.side_of(operation));
  } else {
    own_order_.touch(operation.object, ends_object(operation.verb));
  }
  if (operation.has(Arg::kDest)) set_destination(operation, control);
  if (operation.has(Arg::kMemory)) await_object(operation.value(Arg::kMemory), control);
  if (operation.after != kNoName) control.after = labels_.refer(operation.after);
  if (operation.label != kNoName) control.label = labels_.define(operation.label);
  controls_.push(control);
  controls_.advance();
}

void DataProcess::take_peer_control(const Operation& operation) {
  orders_matter_ = true;
  const bool ends = ends_object(operation.verb);
  note_peer_control(directory_.index_of(operation.node), operation.object, ends);
  if (operation.verb != Verb::kConnect) return;
  const std::uint32_t other = directory_.index_of(operation.peer_node);
  if (operation.peer_node == operation.node) {
    order_of(other).touch(operation.peer_object, ends);
  } else {
    note_peer_control(other, operation.peer_object, ends);
  }
  for (const std::uint32_t node : {directory_.index_of(operation.node), other}) {
    touch_default_mr(order_of(node), peers_[node].default_mr_there);
  }
}

void DataProcess::note_peer_control(std::uint32_t node, NameId object, bool ends) {
  order_of(node).read();
  order_of(node).touch(object, ends);
}

void DataProcess::touch_connected(const ConnectSide& own) {
  own_order_.touch(own.qp, false);
  if (own.peer_node == own_index_) {  // one control line of this node makes both
    own_order_.touch(own.peer_qp, false);
    set_peer_of(own.peer_qp, own.peer_node);
  } else {
    note_peer_control(own.peer_node, own.peer_qp, false);
  }
  touch_default_mr(own_order_, default_mr_there_);
  if (own.peer_node != own_index_) {
    touch_default_mr(order_of(own.peer_node), peers_[own.peer_node].default_mr_there);
  }
  set_peer_of(own.qp, own.peer_node);
}

// connect makes the default MR where there is none.
void DataProcess::touch_default_mr(ControlOrder& order, bool there) {
  const NameId mr = objects_.default_mr();
  const bool missing = order.latest(mr) == 0 ? !there : order.ended(mr);
  if (missing) order.touch(mr, false);
}

// Whose objects the remote names of the QP's posts are from here on, and whose QP must be there.
void DataProcess::set_destination(const Operation& operation, PendingControl& control) {
  await_object(operation.value(Arg::kDest), control);
  set_peer_of(operation.object, control.peer_node);
}

// An object of another node that must be there: the node above, the object in the lower 32 bits.
void DataProcess::await_object(std::uint64_t object, PendingControl& control) {
  const std::uint32_t node = directory_.index_of(static_cast<NameId>(object >> 32));
  control.peer_node = node;
  if (node != own_index_) control.peer = order_of(node).latest(static_cast<NameId>(object));
}

void DataProcess::set_peer_of(NameId qp, std::uint32_t node) {
  for (const bool is_send : {true, false}) {
    TraceQueue* const queue = queues_.find(qp, is_send);
    (queue != nullptr ? *queue : make_queue(qp, is_send)).peer_node = node;
  }
}

// Which control lines a post has to wait for.
void DataProcess::find_objects(WorkItem& work) {
  std::uint32_t own = own_order_.latest(work.queue);
  for (std::uint32_t i = 0; i < work.num_sge; ++i) {
    own = std::max(own, own_order_.latest(work.sges[i].mr));
  }
  work.peer_control = 0;
  if (work.is_send) {
    const TraceQueue* const queue = queues_.find(work.queue, true);
    work.peer = static_cast<std::uint16_t>(queue != nullptr ? queue->peer_node : own_index_);
    std::uint32_t& remote = work.peer == own_index_ ? own : work.peer_control;
    const ControlOrder& order = order_of(work.peer);
    if (work.opcode == SendOpcode::kRegMr) own = std::max(own, own_order_.latest(work.mr));
    if (work.remote_named) remote = std::max(remote, order.latest(work.remote_mr));
    if (work.invalidate_named && work.opcode == SendOpcode::kLocalInv) {
      own = std::max(own, own_order_.latest(work.invalidate));
    } else if (work.invalidate_named) {
      remote = std::max(remote, order.latest(work.invalidate));
    }
  }
  work.own_control = own;
}

// --- Posts behind control lines
// -------------------------------------------------------------------

// True when all control lines that the list at the head waits for have been carried out.
bool DataProcess::objects_are_there(TraceQueue& queue) {
  const WaitingWork* work = &queue.waiting.front();
  for (std::uint32_t i = 0; i < queue.waiting.size(); ++i, work = work->next) {
    const WorkItem& item = work->item;
    const bool peer_reached =
        item.peer_control == 0 || order_of(item.peer).reached(item.peer_control);
    if (!own_order_.reached(item.own_control) || !peer_reached) {
      if (!queue.awaits_control) awaiting_control_.push_back(&queue);
      queue.awaits_control = true;
      return false;
    }
    if ((item.flags & kMore) == 0) break;
  }
  return true;
}

void DataProcess::look_at_queues_that_await_control() {
  for (TraceQueue* const queue : awaiting_control_) {
    queue->awaits_control = false;
    list(*queue);
  }
  awaiting_control_.clear();
  wake(now());
}

// --- Control lines behind posts
// -------------------------------------------------------------------

bool DataProcess::may_begin(const PendingControl& control, hw::Time& from) {
  if (control.peer != 0 && !order_of(control.peer_node).reached(control.peer)) return false;
  switch (control.operation.verb) {
    case Verb::kModifyQp:
    case Verb::kDestroyQp:
    case Verb::kModifySrq:
    case Verb::kDestroySrq:
      return may_begin_on_qp(control.operation, from);
    case Verb::kDeregMr:
      return may_begin_on_mr(control.operation);
    default:
      return true;
  }
}

bool DataProcess::may_begin_on_qp(const Operation& operation, hw::Time& from) const {
  for (const bool is_send : {true, false}) {
    const TraceQueue* const queue = queues_.find(operation.object, is_send);
    if (queue == nullptr) continue;
    if (!queue->waiting.empty() && queue->waiting.front().item.line < operation.line) return false;
    from = std::max(from, queue->posted_until);
  }
  return true;
}

// Looks for a post that is in the way, and from then on only whether that one has gone.
bool DataProcess::may_begin_on_mr(const Operation& operation) {
  const auto passed = [](const TraceQueue& queue, std::uint64_t line) {
    return queue.waiting.empty() || queue.waiting.front().item.line > line;
  };
  if (blocker_ != nullptr && !passed(*blocker_, blocker_line_)) return false;
  blocker_ = nullptr;
  for (TraceQueue& queue : queues_) {
    if (passed(queue, operation.line)) continue;
    const WaitingWork* work = &queue.waiting.front();
    for (std::uint32_t i = 0; i < queue.waiting.size(); ++i, work = work->next) {
      if (work->item.line > operation.line) break;
      if (!names(work->item, operation.object, queue.peer_node == own_index_)) continue;
      blocker_ = &queue;
      blocker_line_ = work->item.line;
      return false;
    }
  }
  return true;
}

// --- Control lines that have ended
// ----------------------------------------------------------------

void DataProcess::control_ended(const PendingControl& control, const ControlResult& result) {
  if (result.error != 0) throw LineError(mishap(control.operation.line, result.refusal()));
  own_order_.carried_out(control.number);
  ++controls_carried_out_;
  if (control.operation.verb == Verb::kModifySrq && control.operation.has(Arg::kSrqLimit)) {
    await_limit(control);
  } else if (control.label != kNoInstance) {
    complete_label(control.label);
  }
  for (std::uint32_t peer = 0; peer < peers_.size(); ++peer) tell(peer, {false, control.number});
  look_at_queues_that_await_control();
}

void DataProcess::queue_pair_made(std::uint32_t peer, std::uint32_t qpn) {
  tell(peer, {true, qpn});
}

void DataProcess::tell(std::uint32_t peer, News news) {
  const Peer& to = peers_[peer];
  if (to.process == nullptr) return;
  to.process->peers_[own_index_].news.push(news);
  to.process->engine().schedule_from_outside(*to.process, cpu_.now() + to.latency,
                                             kNewsBit | own_index_);
}

void DataProcess::take_news(std::uint32_t from) {
  const News news = peers_[from].news.pop();
  if (news.queue_pair) return controls_.peer_made(from, news.number);
  peers_[from].order.carried_out(news.number);
  look_at_queues_that_await_control();
  controls_.advance();
}

}  // namespace hcasim::sim
