// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "hca/observer.hpp"
#include "hcasim/hw/time.hpp"
#include "hcasim/rvt/trace_sink.hpp"
#include "sim/ftrace/events.hpp"

namespace hcasim::rvt {
struct rvt_dev_info;
}

namespace hcasim::sim::ftrace {

/// Turns what the driver of one node and the timers of its adapter report into events. README.md
/// says where each field comes from.
class DriverEvents : public rvt::TraceSink, public hca::TimerObserver {
 public:
  /// @param node index of the node, which is also its only CPU
  DriverEvents(rvt::rvt_dev_info& device, std::uint32_t node) : device_(device), node_(node) {}

  rvt::rvt_dev_info& device() { return device_; }

  void dbg(const char* msg) override;
  void qpinsert(const rvt::rvt_qp& qp, std::uint32_t bucket) override;
  void qpremove(const rvt::rvt_qp& qp, std::uint32_t bucket) override;
  void rnrnak_add(const rvt::rvt_qp& qp, std::uint32_t timeout) override;
  void rnrnak_stop(const rvt::rvt_qp& qp) override;
  void rnrnak_timeout(const rvt::rvt_qp& qp) override;
  void post_one_wr(const rvt::rvt_qp& qp, std::uint32_t slot, int wr_num_sge) override;
  void qp_send_completion(const rvt::rvt_qp& qp, std::uint32_t slot) override;
  void create_cq(const rvt::rvt_cq& cq, const rvt::ib_cq_init_attr& attr) override;
  void cq_enter(const rvt::rvt_cq& cq, const rvt::ib_wc& wc) override;
  void cq_poll(const rvt::rvt_cq& cq, const rvt::ib_wc& wc, int idx) override;
  void mr_user_seg(const rvt::rvt_mregion& mr, const rvt::rvt_segments& segments) override;
  void mr_page_seg(const rvt::rvt_mregion& mr, const rvt::rvt_segments& segments) override;
  void sge_new(const rvt::rvt_sge& sge, const rvt::ib_sge& isge) override;
  void sge_adjacent(const rvt::rvt_sge& last, const rvt::ib_sge& isge) override;
  void map_mr_sg(const rvt::ib_mr& mr, int sg_nents, unsigned sg_offset) override;

  void rnr_wait_began(const hca::RequesterPlace& place, hw::Time wait, hw::Time at) override;
  void rnr_wait_over(const hca::RequesterPlace& place, hw::Time at) override;
  void ack_timed_out(const hca::RequesterPlace& place, hw::Time at) override;

 protected:
  /// One event; its text is valid during the call. Times of a node come nearly in order.
  virtual void emit(hw::Time at, const Event& event) = 0;

 private:
  // What a pointer points at; part of its stand-in.
  enum class Object : std::uint8_t { kTimer, kWqe, kPage, kRegion, kSge, kPostedSge, kAddress };

  std::uint64_t stand_in(Object kind, std::uint64_t number, std::uint64_t part = 0) const;
  hw::Time now() const;
  void emit_now(EventKind kind, const Fields& fields);
  void emit_at(hw::Time at, EventKind kind, const Fields& fields);
  RnrNak rnr_nak(const rvt::rvt_qp& qp, std::uint32_t to) const;
  RnrNak rnr_nak(const hca::RequesterPlace& place, std::uint32_t to) const;
  std::uint32_t flags_of(const hca::RequesterPlace& place) const;
  static CqEntry entry_of(const rvt::ib_wc& wc);
  // What a CQ holds and where its next entry goes.
  struct Ring {
    std::uint32_t next = 0;
    int cqe = 0;
    std::deque<std::uint32_t> qpns;  // of the entries, the oldest first
  };
  Ring& ring_of(const rvt::rvt_cq& cq);
  Ring& present_ring_of(const rvt::rvt_cq& cq);
  void segments_of(EventKind kind, const rvt::rvt_mregion& mr, const rvt::rvt_segments& segments);
  SgeCheck check_of(const rvt::rvt_sge& sge, const rvt::ib_sge& isge) const;

  rvt::rvt_dev_info& device_;
  std::uint32_t node_;
  std::vector<Ring> rings_;            // by number of the CQ
  std::uint64_t elements_ = 0;         // that were new
  std::uint64_t posted_elements_ = 0;  // new or adjacent
};

}  // namespace hcasim::sim::ftrace
