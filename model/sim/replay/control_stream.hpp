// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hca/pool.hpp"
#include "sim/replay/labels.hpp"
#include "sim/replay/node_objects.hpp"

namespace hcasim::sim {

/// A control line that waits for its turn.
struct PendingControl {
  Operation operation;
  std::uint32_t number = 0;     ///< in the order of its node's
  std::uint32_t peer = 0;       ///< number of a peer's control line that must have come before ...
  std::uint32_t peer_node = 0;  ///< ... and that peer, by index
  LabelInstance after = kNoInstance;
  LabelInstance label = kNoInstance;
};

/// What the control lines of a node want of the program that they belong to.
class ControlOwner {
 public:
  virtual ~ControlOwner() = default;
  /// True when all posts above the line that name its object were given to the verbs, the last of
  /// them until `from`, and what it needs of the peer is known. Otherwise whoever changes that
  /// calls ControlStream::advance().
  virtual bool may_begin(const PendingControl& control, hw::Time& from) = 0;
  /// connect has made this node's queue pair, which the peer of that index waits for.
  virtual void queue_pair_made(std::uint32_t peer, std::uint32_t qpn) = 0;
  /// The verb has returned. In the task that called it.
  virtual void control_ended(const PendingControl& control, const ControlResult& result) = 0;
};

/// The control lines of one node after set-up, carried out one after the other by a task: each at
/// the latest of its own time, the label that it waits for, and the end of the one before it.
class ControlStream {
 public:
  ControlStream(NodeObjects& objects, Labels& labels, ControlOwner& owner);

  void set_epoch(hw::Time epoch) { epoch_ = epoch; }
  void push(const PendingControl& control) { pending_.push(control); }
  /// Begins the next line if it can begin now, and sees to it that it does once its time has come.
  /// Any context.
  void advance();
  /// The peer has made its side of the connection with it that comes next, or next but some.
  void peer_made(std::uint32_t peer, std::uint32_t qpn);
  /// Begins nothing any more.
  void stop() { stopped_ = true; }

  /// True when there is nothing left to do and nothing under way.
  bool empty() const { return !running_ && pending_.empty(); }
  std::uint32_t waiting() const { return pending_.size(); }
  bool running() const { return running_; }
  /// The line that is carried out while running().
  std::uint64_t running_line() const { return running_line_; }
  /// The line that comes next. Not when waiting() is 0.
  const PendingControl& next() { return pending_.front(); }
  /// The time that is waited for, hw::kNever when none is.
  hw::Time next_timed() const { return timer_ != 0 ? timer_at_ : hw::kNever; }
  /// Lines that began after the time that they give.
  std::uint64_t late() const { return late_; }

 private:
  bool ready();
  bool due_known(const PendingControl& control, hw::Time& due) const;
  void arm(hw::Time at);
  void run();
  ControlResult carry_out(const Operation& operation);
  ControlResult connect(const Operation& operation);
  ControlResult connect_here(const Operation& operation);
  hca::Fifo<std::uint32_t>& qpns_of(std::uint32_t peer);

  NodeObjects& objects_;
  Labels& labels_;
  ControlOwner& owner_;
  host::CpuPort& cpu_;
  hw::Time epoch_ = 0;
  hca::Fifo<PendingControl> pending_;
  bool running_ = false;
  std::uint64_t running_line_ = 0;
  bool stopped_ = false;
  std::uint64_t timer_ = 0;  // pending call of advance(), 0: none
  hw::Time timer_at_ = 0;
  std::vector<hca::Fifo<std::uint32_t>> peer_qpns_;  // by node
  std::unique_ptr<hw::WaitPoint> peer_is_there_;
  std::uint64_t late_ = 0;
};

}  // namespace hcasim::sim
