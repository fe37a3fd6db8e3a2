// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
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

  void clear();
  void add(const TraceQp& qp, const WorkItem& item, std::uint64_t wr_id);
  /// Posts the list. Returns 0 or a negative errno; `accepted` is how many were taken.
  int post(const TraceQp& qp, bool is_send, std::uint32_t& accepted);

 private:
  struct SendSlot {
    rvt::ib_rdma_wr rdma;
    rvt::ib_atomic_wr atomic;
    rvt::ib_reg_wr reg;
    bool is_atomic = false;
    std::uint32_t first_sge = 0;
    TraceMr* registers = nullptr;  // REG_MR: the region, ...
    TraceMr before{};              // ... and what it was
    rvt::ib_send_wr& wr() {
      if (registers != nullptr) return reg.wr;
      return is_atomic ? atomic.wr : rdma.wr;
    }
  };
  struct ReceiveSlot {
    rvt::ib_recv_wr wr;
    std::uint32_t first_sge = 0;
  };

  void add_sges(const WorkItem& item);
  static bool map(const TraceMr& region, const WorkItem& item);
  void add_registration(SendSlot& slot, const WorkItem& item);
  void take_back(std::uint32_t accepted);
  void add_send(const TraceQp& qp, const WorkItem& item, std::uint64_t wr_id);

  NodeObjects& objects_;
  ObjectDirectory& directory_;
  std::vector<rvt::ib_sge> sges_;
  std::vector<SendSlot> sends_;
  std::vector<ReceiveSlot> receives_;
};

}  // namespace hcasim::sim
