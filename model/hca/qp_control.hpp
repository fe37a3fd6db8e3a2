// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "hca/core.hpp"
#include "hcasim/hw/commands.hpp"
#include "hcasim/hw/cqe.hpp"
#include "sim/engine/unit.hpp"

namespace hcasim::hca {

/// The life of a queue pair: what a transition of state starts and stops. Stopping takes time: the
/// receive queue must fall silent and reads of host memory must have ended.
class QpControl : public sim::Unit {
 public:
  /// Who is told that a queue pair has stopped.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void qp_stopped(std::uint32_t qpn, std::uint32_t tail) = 0;
  };

  struct Counters {
    std::uint64_t errors = 0;  ///< transitions to ERR that the adapter made on its own
  };

  explicit QpControl(Core& core) : Unit(core.engine, "qp_control"), core_(core) {}
  void set_listener(Listener& listener) { listener_ = &listener; }

  /// Applies a new state and the attributes of the IB attribute mask. False when the transition
  /// makes no sense. True with `pending` set: qp_stopped follows.
  bool modify(QueuePair& qp, const hw::QpContext& context, std::uint32_t mask, bool& pending);
  /// Stops the queue pair for good; qp_stopped follows.
  void destroy(QueuePair& qp);

  void error_doorbell(QueuePair& qp);
  /// The oldest send fails with `status`, and the queue pair with it; of UC and UD the send queue
  /// alone, which software may restart.
  void fail_send(QueuePair& qp, hw::WcStatus status, std::uint8_t syndrome);
  /// The queue pair fails; a receive WQE in hand completes with `status`.
  void fail(QueuePair& qp, hw::WcStatus status);
  void bad_send_doorbell(QueuePair& qp);
  /// Completes everything that is posted on the send queue as flushed.
  void flush_sends(QueuePair& qp);
  /// The receive-queue unit has stopped the queue; `tail` is its consumer index.
  void queue_stopped(QueuePair& qp, std::uint32_t tail);
  /// All completions of a queue pair that was moved to ERR by command are in their rings.
  void completions_written(std::uint32_t qpn);

  const Counters& counters() const { return counters_; }
  void on_event(std::uint64_t argument) override;

 private:
  void enter_send_error(QueuePair& qp);
  void enter_error(QueuePair& qp, hw::WcStatus in_hand, Stop reason);
  void reset(QueuePair& qp);
  static void silence(QueuePair& qp);
  void stop_traffic(QueuePair& qp, hw::WcStatus in_hand);
  void ready_to_receive(QueuePair& qp);
  void ready_to_send(QueuePair& qp);
  void report(hw::EqeType type, std::uint32_t number, std::uint32_t value);
  bool quiet(const QueuePair& qp) const;
  void finish_stop(QueuePair& qp);

  Core& core_;
  Listener* listener_ = nullptr;
  Counters counters_;
};

}  // namespace hcasim::hca
