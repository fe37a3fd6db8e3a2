// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <span>

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
  bool void_ = false;      ///< discarded while the read was under way
  std::uint16_t kept = 0;  ///< bytes that came with the doorbell
  std::array<std::uint8_t, kBytes> bytes;
};

/// Brings send WQEs on chip: whole slots, several in one read, ahead of the requester by at most
/// `prefetch_wqes`. Queue pairs that want a fetch take turns in a FIFO. One whose context is not on
/// chip comes again once it is.
///
/// A WQE that came with its doorbell (BlueFlame) and is the next one takes the same way without the
/// read. Its context is not asked for, which only says where to read.
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
  /// Takes in a WQE whose doorbell is still on its way.
  FetchBuffer& keep(std::span<const std::uint8_t> wqe);
  void discard(FetchBuffer& wqe) { buffers_.release(wqe); }
  /// The same as doorbell() with its WQE. False: it was not taken, for it is not the next one to be
  /// fetched, is not whole, or there is no room; it will be fetched.
  bool blue_flame(QueuePair& qp, std::uint32_t head, hw::Time arrival, FetchBuffer& wqe);
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
  static constexpr std::uint32_t kOnChip = std::uint32_t{1} << 30;

  bool wants_fetch(const QueuePair& qp) const;
  void enqueue(QueuePair& qp);
  static void set_front(SendState& send);
  void issue(QueuePair& qp);
  bool is_next(const QueuePair& qp, std::uint32_t head) const;
  static bool is_whole(const QueuePair& qp, const FetchBuffer& wqe);
  void enqueue(QueuePair& qp, FetchBuffer& wqe);
  void stamp_doorbell(const QueuePair& qp, std::uint32_t count, hw::Time at);

  Core& core_;
  Stage stage_;
  Pool<FetchBuffer> buffers_;
  // QPNs; with kFetched: the context came for this turn; with kOnChip: so did the WQE, see below
  Fifo<std::uint32_t> queue_;
  Fifo<FetchBuffer*> on_chip_;
  Counters counters_;
};

}  // namespace hcasim::hca
