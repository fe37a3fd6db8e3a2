// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "hcasim/rvt/verbs.hpp"
#include "reference.hpp"
#include "sim/system/system.hpp"

namespace hcasim::differential {

inline constexpr std::uint32_t kAllRights =
    rvt::IB_ACCESS_REMOTE_WRITE | rvt::IB_ACCESS_REMOTE_READ | rvt::IB_ACCESS_REMOTE_ATOMIC;

/// The verbs on two nodes, as a sequence calls them. Posts and polls take no simulated time, so
/// that all of them between two quiet points happen at once.
class Machine {
 public:
  /// Both nodes have what the reference has in its memory, and all pairs are connected.
  explicit Machine(Reference& reference);

  int create(std::size_t slot);
  int destroy(std::size_t slot);
  /// `before`: the state that the reference knows.
  int modify(const Operation& op, rvt::ib_qp_state before);
  rvt::ib_qp_state state(std::size_t slot);
  Posted post_send(const Operation& op);
  Posted post_recv(const Operation& op);
  int reregister(std::size_t slot);
  int arm(std::size_t cq, bool solicited, bool report_missed);
  int set_limit(std::uint32_t limit);
  int resize_srq(std::uint32_t slots);
  int resize_cq(std::size_t cq, std::uint32_t entries);
  std::uint32_t limit();
  Calls take_calls() { return std::exchange(calls_, {}); }
  /// @return what the verb returned; the refusal itself where the object is not in use
  int refused(Refusal what);
  int poll(std::size_t cq, int entries, rvt::ib_wc* wc) {
    return rvt::ib_poll_cq(cqs_[cq], entries, wc);
  }
  /// Lets everything happen but retries that have no end.
  void settle();
  /// False when something still happens, though nothing is left to do.
  bool comes_to_rest();
  std::size_t slot_of(const rvt::ib_qp* qp) const;
  std::size_t index_of(const rvt::ib_cq* cq) const;
  void read(std::size_t node, std::uint32_t offset, void* to, std::uint32_t bytes);

 private:
  void make_objects(std::size_t node);
  void make_regions(std::size_t slot);
  void register_own(std::size_t slot);
  std::uint32_t window_key(const Operation& op) const;
  rvt::ib_send_wr& local_request(const Operation& op, std::uint32_t index);
  static void on_event(rvt::ib_event* event, void* machine);
  static void on_notification(rvt::ib_cq* cq, void* machine);
  bool run(std::size_t node, const std::function<void()>& body);
  std::uint32_t local_key(const Operation& op, std::size_t node) const;
  std::uint32_t elements(rvt::ib_sge* sges, std::uint64_t address, std::uint32_t length,
                         std::uint32_t id, std::uint32_t key);
  static rvt::rdma_ah_attr path(std::size_t from, std::size_t to);
  void attributes(std::size_t slot, rvt::ib_qp_attr& attr) const;
  int mask_of(std::size_t slot, const Operation& op, rvt::ib_qp_state before) const;
  int modify_srq(const rvt::ib_srq_attr& attr, std::uint32_t mask);
  rvt::ib_send_wr& datagram_request(const Operation& op, std::uint32_t index, Flaw flaw);
  void describe(const Operation& op, std::uint32_t index, Flaw flaw, rvt::ib_rdma_wr& rdma,
                rvt::ib_atomic_wr& atomic);
  rvt::ib_send_wr& request(const Operation& op, std::uint32_t index);
  void refuse_on_node(Refusal what, int& result);

  Reference& reference_;
  sim::System system_;
  std::array<rvt::ib_device*, kNodes> devices_{};
  std::array<rvt::ib_pd*, kNodes> pds_{};
  std::array<rvt::ib_mr*, kNodes> mrs_{};
  std::array<std::uint64_t, kNodes> memory_{};
  std::array<rvt::ib_cq*, kCqs> cqs_{};
  rvt::ib_srq* srq_ = nullptr;
  Calls calls_;
  std::array<rvt::ib_qp*, kSlots> qps_{};
  std::array<rvt::ib_ah*, kNodes> to_other_{};  ///< path to the other node
  std::array<rvt::ib_mr*, kSlots> own_{};       ///< all memory of the node
  std::array<rvt::ib_mr*, kSlots> fast_{};      ///< window of the slot
  // Of the list that is posted.
  std::array<rvt::ib_rdma_wr, kMostInList> rdma_;
  std::array<rvt::ib_atomic_wr, kMostInList> atomic_;
  std::array<rvt::ib_reg_wr, kMostInList> reg_;
  std::array<rvt::ib_ud_wr, kMostInList> ud_;
  std::array<std::array<rvt::ib_sge, kMostSges + 1>, kMostInList> sges_{};
};

}  // namespace hcasim::differential
