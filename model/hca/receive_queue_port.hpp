// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "hca/core.hpp"
#include "hca/receive_queue/receive_queue_unit.hpp"
#include "hca/responder.hpp"
#include "pcie/dma.hpp"
#include "sim/engine/unit.hpp"

namespace hcasim::hca {

/// More queues at a time than the receive-queue unit has.
class TooManyReceiveQueues : public sim::SimulationError {
 public:
  TooManyReceiveQueues(hw::Time at, const std::string& unit, std::uint32_t queues);
  /// What it has.
  std::uint32_t queues() const { return queues_; }

 private:
  std::uint32_t queues_;
};

/// Ties a receive-queue unit, whatever it is made of, to the adapter: feeds its ports, one value a
/// cycle on each, carries out its DMA requests, hands on its answers. The unit is stepped in the
/// cycles in which something can change, and in no other.
class ReceiveQueuePort : public sim::Unit, public pcie::DmaClient {
 public:
  struct Counters {
    std::uint64_t takes = 0;
    std::uint64_t tail_records = 0;
  };

  ReceiveQueuePort(Core& core, std::unique_ptr<ReceiveQueueUnit> unit);

  /// Hands the queue pair's own ring to the unit.
  void init(QueuePair& qp);
  void to_error(QueuePair& qp);
  void invalidate(QueuePair& qp);
  /// Gives a shared queue its number in the unit.
  void open(SharedQueue& srq);
  void close(SharedQueue& srq);
  /// A command for a shared queue; SrqControl::answered gets the answer.
  void command(const SharedQueue& srq, hw::rq::Command command);
  /// The producer index of a ring moved; false when the adapter owns no such ring.
  bool doorbell(std::uint32_t number, std::uint32_t head);
  /// Asks for the next receive WQE; Responder::taken gets the answer.
  void take(QueuePair& qp);
  /// The driver takes one of a shared queue for loopback, as a queue pair would; an event answers.
  /// False when there is no such queue.
  bool take_doorbell(std::uint32_t srqn, std::uint32_t tag);
  /// Tells the driver that `slot` is free again.
  void publish_tail(const QueuePair& qp, std::uint32_t slot);
  /// Tells the driver which slots of a shared queue are free. Messages of different queue pairs end
  /// out of order, and a slot is free once it has been handed out: so it is the unit's tail.
  void publish_tail(const SharedQueue& srq);

  /// Makes the steps that are due and show nothing, so that the unit's counters are up to date.
  void settle();
  const ReceiveQueueUnit& unit() const { return *unit_; }
  const Counters& counters() const { return counters_; }
  void on_event(std::uint64_t argument) override;
  void on_dma_read(std::uint64_t token, bool error) override;

 private:
  template <typename T>
  struct Timed {
    T value;
    Cycle from = 0;  ///< the first cycle in which it is an input
  };
  /// A beat whose bytes still lie in the buffer of its request.
  struct PendingBeat {
    std::uint32_t offset = 0;
    std::uint8_t tag = 0;
    bool last = false;
    bool error = false;
  };
  struct PendingCommand {
    hw::rq::Command command;
    std::uint32_t owner = 0;  ///< QPN, or SRQN with kSrqBit
  };

  std::uint32_t number_for(std::uint32_t owner);
  bool shared_doorbell(std::uint32_t number, std::uint32_t head);
  void post_doorbell(std::uint32_t number, std::uint32_t head);
  void catch_up();
  Cycle next_cycle() const;
  void input_came(Cycle next, Cycle output_delay);
  void arrange(Cycle cycle);
  void run_until(Cycle last);
  void look_ahead();
  Cycle output_with_inputs();
  Cycle delay_of_beats(std::uint8_t tag, bool error) const;
  bool may_be_late(Cycle cycle) const;
  hw::Time edge(Cycle cycle) const { return static_cast<hw::Time>(cycle) * core_.clock.period(); }
  void offer(Cycle cycle);
  bool may_offer_command(Cycle cycle);
  void load_beat();
  template <typename T>
  static bool offered(Fifo<Timed<T>>& fifo, Cycle cycle) {
    return !fifo.empty() && fifo.front().from <= cycle;
  }
  template <typename T>
  void add(Fifo<Timed<T>>& fifo, const std::type_identity_t<T>& value, Cycle from) {
    Timed<T>& last = fifo.add();
    last.value = value;
    last.from = from;
    ++inputs_;
  }
  template <typename T>
  void drop(Fifo<Timed<T>>& fifo) {
    fifo.drop();
    --inputs_;
  }
  void command(QueuePair& qp, const hw::rq::Command& command);
  void issue(const PendingCommand& pending);
  void handle_outputs(Cycle cycle);
  void take(const hw::rq::Take& take);
  void on_take_beat(const hw::rq::TakeBeat& beat);
  void answer_driver(const hw::rq::TakeBeat& beat, std::span<const std::uint8_t> wqe);
  void deliver(std::span<const std::uint8_t> wqe, const hw::rq::TakeBeat& beat);
  void on_answer(const hw::rq::CommandAnswer& answer);
  void release(std::uint32_t number);
  void on_unit_event(const hw::rq::Event& event);
  void start_dma(const hw::rq::DmaRequest& request);

  Core& core_;
  std::unique_ptr<ReceiveQueueUnit> unit_;
  const hw::rq::Outputs& out_;
  hw::rq::Inputs in_;  // payloads only where valid, else those of earlier cycles
  Fifo<Timed<hw::rq::Take>> takes_;
  Fifo<Timed<hw::rq::Doorbell>> doorbells_;
  Fifo<Timed<PendingCommand>> commands_;
  Fifo<Timed<PendingBeat>> beats_;
  unsigned inputs_ = 0;          // in these four
  Fifo<PendingCommand> issued_;  // accepted by the unit, not answered
  std::vector<std::array<std::uint8_t, hw::rq::kDmaBoundary>> dma_buffers_;  // by tag
  std::vector<std::uint32_t> dma_bytes_;
  std::vector<std::uint32_t> free_numbers_;  // given back; those never used come after
  std::vector<std::uint32_t> owner_of_;      // by number in the unit, as far as ever used
  TakenWqe taken_;
  std::array<std::uint8_t, hw::rq::kMaxStride> wqe_bytes_{};
  std::uint32_t wqe_filled_ = 0;
  Cycle due_ = kNoCycle;    // the next cycle to be stepped
  Cycle alarm_ = kNoCycle;  // an event is scheduled for it; no step before it shows anything
  unsigned reads_ = 0;      // requests under way to host memory
  Counters counters_;
};

}  // namespace hcasim::hca
