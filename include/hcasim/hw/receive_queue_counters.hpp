// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace hcasim::hw::rq {

/// What a receive-queue unit counted since reset (rtl/receive_queue/README.md, Counters).
struct Counters {
  std::uint64_t takes_ok = 0;           ///< TAKEs answered OK
  std::uint64_t takes_empty = 0;        ///< TAKEs answered EMPTY
  std::uint64_t takes_flushed = 0;      ///< TAKEs answered FLUSHED
  std::uint64_t takes_bad_queue = 0;    ///< TAKEs answered BAD_QUEUE
  std::uint64_t takes_fetch_error = 0;  ///< TAKEs answered FETCH_ERROR
  std::uint64_t peeks_ok = 0;           ///< PEEKs answered OK
  std::uint64_t peeks_empty = 0;        ///< PEEKs answered EMPTY
  std::uint64_t peeks_flushed = 0;      ///< PEEKs answered FLUSHED
  std::uint64_t peeks_bad_queue = 0;    ///< PEEKs answered BAD_QUEUE
  std::uint64_t takes_waited =
      0;  ///< TAKEs whose WQE was posted and not here when their turn had come
  std::uint64_t takes_ok_at_once = 0;     ///< TAKEs answered OK that did not wait
  std::uint64_t doorbells = 0;            ///< doorbells accepted
  std::uint64_t bad_doorbells = 0;        ///< doorbells accepted that were bad
  std::uint64_t commands = 0;             ///< commands accepted
  std::uint64_t dma_requests = 0;         ///< requests chosen
  std::uint64_t wqes_fetched = 0;         ///< slots asked for by them
  std::uint64_t dma_beats = 0;            ///< beats received
  std::uint64_t dma_beats_unknown = 0;    ///< beats of unknown tags
  std::uint64_t dma_requests_failed = 0;  ///< requests that failed while their queue was READY
  std::uint64_t evictions = 0;            ///< victims
  std::uint64_t wqes_evicted = 0;         ///< WQEs dropped with them
  std::uint64_t fifo_drops = 0;          ///< entries of the fetch FIFO that were no longer eligible
  std::uint64_t limit_events = 0;        ///< SRQ_LIMIT events entered
  std::uint64_t fetch_error_events = 0;  ///< FETCH_ERROR events entered

  friend bool operator==(const Counters&, const Counters&) = default;
};

/// A counter with its name.
struct CounterField {
  const char* name;
  std::uint64_t Counters::*value;
};

/// All counters, in the order of the struct.
inline constexpr std::array<CounterField, 24> kCounterFields{{
    {"takes_ok", &Counters::takes_ok},
    {"takes_empty", &Counters::takes_empty},
    {"takes_flushed", &Counters::takes_flushed},
    {"takes_bad_queue", &Counters::takes_bad_queue},
    {"takes_fetch_error", &Counters::takes_fetch_error},
    {"peeks_ok", &Counters::peeks_ok},
    {"peeks_empty", &Counters::peeks_empty},
    {"peeks_flushed", &Counters::peeks_flushed},
    {"peeks_bad_queue", &Counters::peeks_bad_queue},
    {"takes_waited", &Counters::takes_waited},
    {"takes_ok_at_once", &Counters::takes_ok_at_once},
    {"doorbells", &Counters::doorbells},
    {"bad_doorbells", &Counters::bad_doorbells},
    {"commands", &Counters::commands},
    {"dma_requests", &Counters::dma_requests},
    {"wqes_fetched", &Counters::wqes_fetched},
    {"dma_beats", &Counters::dma_beats},
    {"dma_beats_unknown", &Counters::dma_beats_unknown},
    {"dma_requests_failed", &Counters::dma_requests_failed},
    {"evictions", &Counters::evictions},
    {"wqes_evicted", &Counters::wqes_evicted},
    {"fifo_drops", &Counters::fifo_drops},
    {"limit_events", &Counters::limit_events},
    {"fetch_error_events", &Counters::fetch_error_events},
}};
static_assert(sizeof(Counters) == kCounterFields.size() * sizeof(std::uint64_t));

}  // namespace hcasim::hw::rq
