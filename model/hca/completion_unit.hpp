// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "hca/context_cache.hpp"
#include "hca/core.hpp"
#include "hcasim/hw/cqe.hpp"
#include "pcie/dma.hpp"
#include "sim/engine/unit.hpp"

namespace hcasim::hca {

/// Writes completions to the rings in host memory, in the order in which they were made, behind the
/// data that was written before. Events that report the end of something go the same way, so that
/// they come after the completions they speak of.
///
/// Timing: as a Stage; a CQ that looks full holds the unit up while its consumer's count is read.
/// The context of the CQ is asked for when the completion enters; one that is not here when its
/// turn comes holds up those behind it.
class CompletionUnit : public sim::Unit, public pcie::DmaClient, public ContextUser {
 public:
  struct Counters {
    std::uint64_t cqes = 0;
    std::uint64_t consumer_reads = 0;
    std::uint64_t cq_overflow = 0;
    std::uint64_t cqe_error = 0;             ///< completions with an error other than flush
    std::uint64_t req_cqe_error = 0;         ///< of these, sends
    std::uint64_t resp_cqe_error = 0;        ///< and receives
    std::uint64_t req_cqe_flush_error = 0;   ///< sends flushed
    std::uint64_t resp_cqe_flush_error = 0;  ///< receives flushed
  };

  explicit CompletionUnit(Core& core);

  /// A completion of a send (message: the observer's number, or 0). QPN and status are set, all
  /// else is 0 and for the caller to fill in at once.
  hw::Cqe& complete_send(const QueuePair& qp, hw::WcStatus status, std::uint64_t message);
  /// The same for a receive.
  hw::Cqe& complete_receive(const QueuePair& qp, hw::WcStatus status, bool solicited,
                            std::uint64_t message);
  /// An event that follows all completions made so far.
  void event_behind(const hw::Eqe& eqe);
  /// Calls QpControl::completions_written once all completions made so far are written.
  void call_behind(std::uint32_t qpn);

  const Counters& counters() const { return counters_; }
  const Stage& stage() const { return stage_; }
  void on_event(std::uint64_t argument) override;
  void on_dma_read(std::uint64_t token, bool error) override;
  void on_context(std::uint64_t sequence) override;

 private:
  enum class Kind : std::uint8_t { kSend, kReceive, kEvent, kCall };
  struct Entry {
    hw::Cqe cqe;
    hw::Eqe eqe;
    std::uint64_t message = 0;
    std::uint32_t cqn = 0;
    Kind kind = Kind::kSend;
    bool solicited = false;
    bool waits = false;  ///< for the context of its CQ
  };

  Entry& enter(Kind kind);
  hw::Cqe& begin_cqe(Entry& entry, std::uint32_t qpn, hw::WcStatus status);
  void drain();
  bool deliver(Entry& entry);
  void write(CompletionQueue& cq, Entry& entry);
  void count_error(hw::WcStatus status, bool receive);
  void overflow(CompletionQueue& cq, std::uint32_t qpn);

  Core& core_;
  Stage stage_;
  Fifo<Entry> entries_;
  std::uint64_t first_ = 0;  // sequence number of the front entry
  std::uint32_t ready_ = 0;  // entries that have left the stage
  hw::ConsumerRecord record_{};
  std::uint32_t fresh_cqn_ = kNone;  // its consumer's count was read just now
  bool refreshing_ = false;
  Counters counters_;
};

}  // namespace hcasim::hca
