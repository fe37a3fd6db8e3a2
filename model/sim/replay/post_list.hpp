// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/replay/node_objects.hpp"
#include "sim/replay/work_item.hpp"

namespace hcasim::sim {

/// Builds the work requests of one call from work items. Names are resolved at this moment: to the
/// objects that they mean now. Nothing is allocated once the longest list has been seen.
class PostList {
 public:
  PostList(NodeObjects& objects, ObjectDirectory& directory)
      : objects_(objects), directory_(directory) {}

  void clear() {
    sends_.clear();
    receives_.clear();
    registrations_ = 0;
  }
  /// `qp` may be null for a receive.
  void add(const TraceQp* qp, const WorkItem& item, std::uint64_t wr_id) {
    item.is_send ? add_send(*qp, item, wr_id) : add_receive(item, wr_id);
  }
  /// Posts the list. Returns 0 or a negative errno; `accepted` is how many were taken.
  int post(const TraceQp& qp, bool is_send, std::uint32_t& accepted);
  /// The same to a shared receive queue.
  int post(const TraceSrq& srq, std::uint32_t& accepted);

 private:
  using Sges = std::array<rvt::ib_sge, kMaxSges>;
  // Each begins with an ib_send_wr.
  union SendRequest {
    SendRequest() : rdma() {}
    rvt::ib_rdma_wr rdma;
    rvt::ib_atomic_wr atomic;
    rvt::ib_reg_wr reg;
    rvt::ib_ud_wr ud;
  };
  struct SendSlot {
    SendRequest request;
    Sges sges;
    TraceMr* registers = nullptr;  // REG_MR: the region, ...
    TraceMr before{};              // ... what it was, ...
    std::uint64_t bytes = 0;       // ... how much of it, ...
    std::uint64_t iova = 0;        // ... and from which address on
    rvt::ib_send_wr& wr() { return request.rdma.wr; }
  };
  struct ReceiveSlot {
    rvt::ib_recv_wr request;
    Sges sges;
    rvt::ib_recv_wr& wr() { return request; }
  };

  // Slots that stay where they are, for work requests point at each other and at their SGEs; what
  // one held before is still in it.
  template <typename Slot>
  class Slots {
   public:
    void clear() { count_ = 0; }
    std::uint32_t count() const { return count_; }
    Slot& operator[](std::uint32_t i) { return *slots_[i]; }
    // Appends a slot whose work request ends the list.
    Slot& append() {
      if (count_ == slots_.size()) slots_.push_back(std::make_unique<Slot>());
      Slot& slot = *slots_[count_];
      slot.wr().next = nullptr;
      slot.wr().sg_list = slot.sges.data();
      if (count_ != 0) slots_[count_ - 1]->wr().next = &slot.wr();
      ++count_;
      return slot;
    }
    // How many come before the one that was refused.
    template <typename Wr>
    std::uint32_t before(const Wr* bad) {
      std::uint32_t i = 0;
      while (i < count_ && &slots_[i]->wr() != bad) ++i;
      return i;
    }

   private:
    std::vector<std::unique_ptr<Slot>> slots_;
    std::uint32_t count_ = 0;
  };

  void fill_sges(Sges& sges, const WorkItem& item);
  template <typename Wr>
  static void fill_remote(Wr& wr, NodeObjects& peer, const WorkItem& item);
  void add_registration(SendSlot& slot, const WorkItem& item);
  static void map(const SendSlot& slot);
  void take_back(std::uint32_t accepted);
  std::uint32_t end_of_mappings(std::uint32_t begin);
  int post_mapped(const TraceQp& qp, std::uint32_t begin, std::uint32_t end,
                  std::uint32_t& accepted);
  int post_sends(const TraceQp& qp, std::uint32_t& accepted);
  void add_receive(const WorkItem& item, std::uint64_t wr_id);
  void add_send(const TraceQp& qp, const WorkItem& item, std::uint64_t wr_id);

  NodeObjects& objects_;
  ObjectDirectory& directory_;
  Slots<SendSlot> sends_;
  std::uint32_t registrations_ = 0;  // REG_MRs among them
  Slots<ReceiveSlot> receives_;
};

}  // namespace hcasim::sim
