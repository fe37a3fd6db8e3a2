// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/replay/control_stream.hpp"

#include <algorithm>
#include <array>

#include "sim/replay/saturating_time.hpp"

namespace hcasim::sim {

ControlStream::ControlStream(NodeObjects& objects, Labels& labels, ControlOwner& owner)
    : objects_(objects), labels_(labels), owner_(owner), cpu_(objects.node().host().cpu()) {}

// The time from which the line may begin; false while its label has not completed.
bool ControlStream::due_known(const PendingControl& control, hw::Time& due) const {
  due = 0;
  if (control.operation.timing == Timing::kAt) due = later(epoch_, control.operation.time);
  if (control.after == kNoInstance) return true;
  if (!labels_.done(control.after)) return false;
  due = later(labels_.completed_at(control.after), control.operation.time);
  return true;
}

// True when the next line can begin at this moment. A task may be ahead of the engine by CPU time
// that it has charged; everybody else begins a task when the engine has come there.
bool ControlStream::ready() {
  if (stopped_ || pending_.empty()) return false;
  const PendingControl& control = pending_.front();
  hw::Time due = 0;
  hw::Time posted = 0;
  if (!due_known(control, due) || !owner_.may_begin(control, posted)) return false;
  const hw::Time begin = std::max({due, posted, cpu_.now()});
  const hw::Time now = running_ ? cpu_.now() : objects_.node().engine().now();
  if (begin > now) {
    arm(begin);
    return false;
  }
  if (control.operation.timing != Timing::kAsap && due < now) ++late_;
  return true;
}

void ControlStream::arm(hw::Time at) {
  if (at == hw::kNever || (timer_ != 0 && timer_at_ == at)) return;
  if (timer_ != 0) cpu_.cancel_timer(timer_);
  timer_at_ = at;
  timer_ = cpu_.start_timer(at, {[](void* stream, std::uint64_t) {
                                   auto* self = static_cast<ControlStream*>(stream);
                                   self->timer_ = 0;
                                   self->advance();
                                 },
                                 this});
}

void ControlStream::advance() {
  if (running_ || !ready()) return;
  running_ = true;
  cpu_.start_task([this] { run(); });
}

void ControlStream::run() {
  do {
    const PendingControl control = pending_.pop();
    running_line_ = control.operation.line;
    const ControlResult result = carry_out(control.operation);
    if (control.after != kNoInstance) labels_.release(control.after);
    owner_.control_ended(control, result);
  } while (ready());
  running_ = false;
}

ControlResult ControlStream::carry_out(const Operation& operation) {
  if (operation.verb != Verb::kConnect) return objects_.execute(operation);
  return operation.node == operation.peer_node ? connect_here(operation) : connect(operation);
}

// Both sides are this node's.
ControlResult ControlStream::connect_here(const Operation& operation) {
  const std::array sides = {objects_.side_of(operation), objects_.side_of(operation, true)};
  for (const ConnectSide& side : sides) {
    ControlResult made = objects_.connect_begin(operation, side);
    if (made.error != 0) return made;
  }
  for (const ConnectSide& side : sides) {
    const std::uint32_t peer = objects_.qp(side.peer_qp)->qp->qp_num;
    ControlResult made = objects_.connect_end(operation, side, peer);
    if (made.error != 0) return made;
  }
  return {};
}

// Each node makes its own side and waits for the news of the other.
ControlResult ControlStream::connect(const Operation& operation) {
  if (!peer_is_there_) peer_is_there_ = cpu_.make_wait_point();
  const ConnectSide side = objects_.side_of(operation);
  ControlResult made = objects_.connect_begin(operation, side);
  if (made.error != 0) return made;
  owner_.queue_pair_made(side.peer_node, objects_.qp(side.qp)->qp->qp_num);
  // A signal may have been for a connection with another node.
  while (qpns_of(side.peer_node).empty()) peer_is_there_->wait(hw::kNever);
  return objects_.connect_end(operation, side, qpns_of(side.peer_node).pop());
}

hca::Fifo<std::uint32_t>& ControlStream::qpns_of(std::uint32_t peer) {
  if (peer >= peer_qpns_.size()) peer_qpns_.resize(peer + 1);
  return peer_qpns_[peer];
}

void ControlStream::peer_made(std::uint32_t peer, std::uint32_t qpn) {
  if (!peer_is_there_) peer_is_there_ = cpu_.make_wait_point();
  qpns_of(peer).push(qpn);
  peer_is_there_->signal();
}

}  // namespace hcasim::sim
