// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>

#include "hca/context_cache.hpp"
#include "hca/core.hpp"
#include "pcie/dma.hpp"
#include "sim/engine/unit.hpp"

namespace hcasim::hca {

/// The WQEs that one read brings.
struct FetchBuffer {
  static constexpr std::uint32_t kBytes = 1024;
  FetchBuffer* next = nullptr;
  hw::Time arrival = 0;
  std::uint32_t qpn = 0;
  std::uint16_t first = 0;  ///< WQEs already consumed
  std::uint16_t count = 0;
  bool arrived = false;
  bool void_ = false;  ///< discarded while the read was under way
  std::array<std::uint8_t, kBytes> bytes;
};

/// Brings send WQEs on chip: whole slots, several in one read, ahead of the requester by at most
/// `prefetch_wqes`. Queue pairs that want a fetch take turns in a FIFO. One whose context is not on
/// chip comes again once it is.
///
/// Timing: as a Stage, one read each interval; the read leaves `latency` after it was chosen.
class WqeFetch : public sim::Unit, public pcie::DmaClient, public ContextUser {
 public:
  struct Counters {
    std::uint64_t fetches = 0;
    std::uint64_t wqes = 0;
    std::uint64_t discarded = 0;  ///< WQEs fetched in vain, for a retransmission or an error
  };

  explicit WqeFetch(Core& core);

  /// The producer index of a send ring moved.
  void doorbell(QueuePair& qp, std::uint32_t head, hw::Time arrival);
  /// Asks for a fetch if the queue pair has room and something to fetch.
  void request(QueuePair& qp) {
    if (qp.send.fetch.count != qp.send.head.count && !qp.send.fetch_queued) enqueue(qp);
  }
  /// The WQE at the front was cut into packets to its end.
  void pop(QueuePair& qp);
  /// Forgets everything on chip; the next fetch begins at qp.send.send.
  void restart(QueuePair& qp);

  const Counters& counters() const { return counters_; }
  const Stage& stage() const { return stage_; }
  void on_event(std::uint64_t argument) override;
  void on_dma_read(std::uint64_t token, bool error) override;
  void on_context(std::uint64_t qpn) override;

 private:
  static constexpr std::uint32_t kFetched = std::uint32_t{1} << 31;

  bool wants_fetch(const QueuePair& qp) const;
  void enqueue(QueuePair& qp);
  static void set_front(SendState& send);
  void issue(QueuePair& qp);
  void stamp_doorbell(const QueuePair& qp, std::uint32_t count, hw::Time at);

  Core& core_;
  Stage stage_;
  Pool<FetchBuffer> buffers_;
  Fifo<std::uint32_t> queue_;  // QPNs; with kFetched: the context came for this turn
  Counters counters_;
};

}  // namespace hcasim::hca
