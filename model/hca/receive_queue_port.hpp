// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "hca/core.hpp"
#include "hca/receive_queue/receive_queue_unit.hpp"
#include "hca/responder.hpp"
#include "pcie/dma.hpp"
#include "sim/engine/unit.hpp"

namespace hcasim::hca {

/// Ties a receive-queue unit, whatever it is made of, to the adapter: feeds its ports, one value a
/// cycle on each, carries out its DMA requests, hands on its answers. The unit is stepped in the
/// cycles in which something can change, and in no other.
class ReceiveQueuePort : public sim::Unit, public pcie::DmaClient {
 public:
  struct Counters {
    std::uint64_t takes = 0;
    std::uint64_t steps = 0;
    std::uint64_t tail_records = 0;
  };

  ReceiveQueuePort(Core& core, std::unique_ptr<ReceiveQueueUnit> unit);

  /// Hands the queue pair's own ring to the unit.
  void init(QueuePair& qp);
  void to_error(QueuePair& qp);
  void invalidate(QueuePair& qp);
  /// The producer index of a ring moved; false when the adapter owns no such ring.
  bool doorbell(std::uint32_t number, std::uint32_t head);
  /// Asks for the next receive WQE; Responder::taken gets the answer.
  void take(QueuePair& qp);
  /// Tells the driver that `slot` is free again.
  void publish_tail(const QueuePair& qp, std::uint32_t slot);

  const ReceiveQueueUnit& unit() const { return *unit_; }
  const Counters& counters() const { return counters_; }
  void on_event(std::uint64_t argument) override;
  void on_dma_read(std::uint64_t token, bool error) override;

 private:
  template <typename T>
  struct Timed {
    T value;
    hw::Time since = 0;  ///< produced at; an input of the first edge after that
  };
  struct PendingCommand {
    hw::rq::Command command;
    std::uint32_t qpn = 0;
  };

  void wake();
  void arrange(hw::Time at);
  void step(Cycle cycle);
  template <typename T>
  bool offered(Fifo<Timed<T>>& fifo) {
    return !fifo.empty() && fifo.front().since < now();
  }
  void command(QueuePair& qp, const hw::rq::Command& command);
  void handle_outputs(const hw::rq::Outputs& out);
  void on_take_beat(const hw::rq::TakeBeat& beat);
  void on_answer(const hw::rq::CommandAnswer& answer);
  void on_unit_event(const hw::rq::Event& event);
  void start_dma(const hw::rq::DmaRequest& request);

  Core& core_;
  std::unique_ptr<ReceiveQueueUnit> unit_;
  hw::rq::Inputs in_;
  Fifo<Timed<hw::rq::Take>> takes_;
  Fifo<Timed<hw::rq::Doorbell>> doorbells_;
  Fifo<Timed<PendingCommand>> commands_;
  Fifo<Timed<hw::rq::DmaBeat>> beats_;
  Fifo<PendingCommand> issued_;  // accepted by the unit, not answered
  std::vector<std::array<std::uint8_t, hw::rq::kDmaBoundary>> dma_buffers_;  // by tag
  std::vector<std::uint32_t> dma_bytes_;
  std::vector<std::uint32_t> free_numbers_;
  std::vector<std::uint32_t> qpn_of_;  // by number in the unit
  TakenWqe taken_;
  std::array<std::uint8_t, hw::rq::kMaxStride> wqe_bytes_{};
  std::uint32_t wqe_filled_ = 0;
  hw::Time next_step_ = hw::kNever;  // an event is scheduled for it
  Counters counters_;
};

}  // namespace hcasim::hca
