// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>

#include "hca/pool.hpp"
#include "host/cpu_port.hpp"
#include "sim/replay/node_objects.hpp"

namespace hcasim::sim {

/// Who polls, and is told when there is something to poll.
class PollingOwner {
 public:
  virtual ~PollingOwner() = default;
  /// The adapter has written a completion.
  virtual void completion_written() = 0;
  /// The driver has made one, in a verb that is perhaps being called at this moment.
  virtual void completion_entered() = 0;
};

/// The completion queues of a node, polled in the order in which they got something. An empty one
/// is left alone until its next entry is written.
class CqPoller {
 public:
  CqPoller(host::CpuPort& cpu, PollingOwner& owner) : cpu_(cpu), owner_(owner) {}

  void add(NameId name, TraceCq& cq);
  void remove(NameId name);
  /// Polls queues that may have something until one has. The completions stay valid until the next
  /// poll; none when no queue has any.
  std::span<const rvt::ib_wc> poll();
  /// Completions that the driver has taken from the ring already, of any queue; none when there
  /// are no more.
  std::span<const rvt::ib_wc> poll_entered();

 private:
  struct Polled {
    CqPoller* poller = nullptr;
    NameId name = kNoName;
    TraceCq* cq = nullptr;  ///< null once it is destroyed
    bool ready = false;
    std::uint64_t watched = 0;  ///< address of the entry whose writing is waited for, 0: none
  };

  static constexpr std::uint32_t kBatch = 16;

  std::span<const rvt::ib_wc> poll(const TraceCq& cq);
  void watch(Polled& polled);
  bool make_ready(Polled& polled);
  static void written(void* context, std::uint64_t address);
  static void entered(void* context, std::uint64_t);

  host::CpuPort& cpu_;
  PollingOwner& owner_;
  std::deque<Polled> cqs_;
  hca::Fifo<Polled*> ready_;
  std::array<rvt::ib_wc, kBatch> wcs_;
};

}  // namespace hcasim::sim
