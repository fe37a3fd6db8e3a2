// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "hca/observer.hpp"
#include "hcasim/hw/cqe.hpp"
#include "hcasim/hw/time.hpp"
#include "hcasim/hw/wqe.hpp"
#include "hcasim/sim/run_statistics.hpp"
#include "sim/record/node_totals.hpp"
#include "sim/record/occupancy.hpp"
#include "sim/record/qp_table.hpp"
#include "sim/record/record_store.hpp"

namespace hcasim::sim {

/// Records of one node. The software side reports what it posts and polls, the adapter reports the
/// rest through MessageObserver. Times are absolute and those of one node come nearly in order.
class NodeRecorder : public hca::MessageObserver {
 public:
  NodeRecorder(RecordStore& store, std::uint16_t index, std::string name);

  /// A QP begins a life with this number: WQE counts start at 0, all that an earlier life left is
  /// unfinished.
  /// @param reliable false: nobody acknowledges what it sends
  void qp_created(std::uint32_t qpn, std::string_view name, bool reliable = true);
  /// The QP is reset or destroyed: what is left in its queues is gone.
  void qp_closed(std::uint32_t qpn, hw::Time at);

  /// In posting order; the WQE counts of a QP are 0, 1, 2 and so on. To be called before the
  /// doorbell rings.
  void send_posted(std::uint32_t qpn, hw::WrOpcode opcode, std::uint64_t bytes, hw::Time at);
  /// The completion of WQE `count` was polled. Earlier WQEs of the QP that had none succeeded.
  void send_polled(std::uint32_t qpn, std::uint64_t count, hw::WcStatus status, hw::Time at);
  /// `count` receives at once.
  void receive_posted(std::uint32_t qpn, hw::Time at, std::uint64_t count = 1);
  /// The QP takes its receives from a shared queue in this life. After qp_created().
  void qp_shares(std::uint32_t qpn) { qps_.at(qpn).shares = true; }
  /// `count` receives at once to a shared queue.
  void shared_receive_posted(hw::Time at, std::uint64_t count);
  /// The shared queue is gone, and with it `count` receives that were not polled.
  void shared_receives_gone(hw::Time at, std::uint64_t count);
  /// Takes the oldest receive_completed() of the QP.
  void receive_polled(std::uint32_t qpn, hw::WcStatus status, std::uint64_t bytes, hw::Time at);

  std::uint64_t message_of(std::uint32_t qpn, std::uint64_t count) override;
  void stamp(std::uint64_t message, hca::Stamp stamp, hw::Time at) override;
  void receive_completed(std::uint32_t qpn, std::uint64_t message) override;

  /// When the last of the sends that are still in a queue was acknowledged: 0 when there is none,
  /// hw::kNever when one is not acknowledged yet.
  hw::Time last_acknowledgement();

  const std::string& name() const { return name_; }
  const NodeTotals& totals() const { return totals_; }

  /// For the Recorder: results begin at `epoch`, end at `end`.
  void begin(hw::Time epoch);
  void end(hw::Time end);
  void append_occupancy(std::vector<OccupancyStatistics>& out) const;

 private:
  void saw(hw::Time at) {
    if (at > latest_) latest_ = at;
  }
  std::uint64_t open_message(const QpRecord& qp, hw::WrOpcode opcode, std::uint64_t bytes,
                             hw::Time at);
  void retire(SendSlot slot, hw::WcStatus status, hw::Time at, bool polled);
  void abandon(SendSlot slot, hw::Time at);
  void count_end(MessageRecord& record, hw::WcStatus status, hw::Time at);
  void finish(MessageRecord& record, hw::Time at);
  void completion_entered(hw::Time at);
  void count_receive(hw::WcStatus status, std::uint64_t bytes);
  void empty_queues(QpRecord& qp, hw::Time at);

  RecordStore& store_;
  std::uint16_t index_;
  std::string name_;
  QpTable qps_;
  NodeTotals totals_;
  Occupancy receive_queue_;
  Occupancy send_queue_;
  Occupancy completion_queue_;
  std::unique_ptr<Occupancy> shared_queue_;  // from the first receive posted to one
  std::uint64_t posted_ = 0;                 // messages
  hw::Time epoch_ = hw::kNever;
  hw::Time latest_ = 0;  // of all calls by software
};

}  // namespace hcasim::sim
