// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// The driver's tracepoints. A device without a sink (rvt_dev_info::trace null) pays one branch for
/// each.
namespace hcasim::rvt {

struct ib_cq_init_attr;
struct ib_mr;
struct ib_sge;
struct ib_wc;
struct rvt_cq;
struct rvt_mregion;
struct rvt_qp;
struct rvt_sge;

/// Pages of a region that were given their addresses: those from `first` on follow one another.
struct rvt_segments {
  std::uint32_t first = 0;  ///< index of the first in the translation table
  std::uint32_t count = 0;
  std::uint64_t page = 0;  ///< host address of the first
};

/// Takes the tracepoints of one device; each is rdmavt's of that name, without `rvt_`. Called at
/// the place where rdmavt has it, with locks held: it must neither wait nor call verbs.
class TraceSink {
 public:
  virtual ~TraceSink() = default;

  /// @param msg in words
  virtual void dbg(const char* msg) = 0;
  virtual void qpinsert(const rvt_qp& qp, std::uint32_t bucket) = 0;
  virtual void qpremove(const rvt_qp& qp, std::uint32_t bucket) = 0;
  /// @param timeout us until it sends again
  virtual void rnrnak_add(const rvt_qp& qp, std::uint32_t timeout) = 0;
  virtual void rnrnak_stop(const rvt_qp& qp) = 0;
  virtual void rnrnak_timeout(const rvt_qp& qp) = 0;
  /// A send has its slot and its numbers; s_head has not moved yet. @param wr_num_sge as posted
  virtual void post_one_wr(const rvt_qp& qp, std::uint32_t slot, int wr_num_sge) = 0;
  /// The send in `slot` is done, with or without a completion; before s_last moves.
  virtual void qp_send_completion(const rvt_qp& qp, std::uint32_t slot) = 0;
  virtual void create_cq(const rvt_cq& cq, const ib_cq_init_attr& attr) = 0;
  /// The queue has taken a completion, of the adapter's when the driver has read it.
  virtual void cq_enter(const rvt_cq& cq, const ib_wc& wc) = 0;
  /// @param idx how many came before it in the same call
  virtual void cq_poll(const rvt_cq& cq, const ib_wc& wc, int idx) = 0;
  /// All pages of a region that was registered.
  virtual void mr_user_seg(const rvt_mregion& mr, const rvt_segments& segments) = 0;
  /// Pages that were mapped by ib_map_mr_sg.
  virtual void mr_page_seg(const rvt_mregion& mr, const rvt_segments& segments) = 0;
  /// An element has passed the check of its key: `sge` is what became of `isge`.
  virtual void sge_new(const rvt_sge& sge, const ib_sge& isge) = 0;
  /// An element was added to the one before it.
  virtual void sge_adjacent(const rvt_sge& last, const ib_sge& isge) = 0;
  virtual void map_mr_sg(const ib_mr& mr, int sg_nents, unsigned sg_offset) = 0;
};

}  // namespace hcasim::rvt
