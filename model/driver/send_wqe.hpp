// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hcasim/hw/wqe.hpp"
#include "hcasim/rvt/rdmavt_qp.hpp"

namespace hcasim::rvt {

/// A send WQE in the making, before it goes to its slot of the ring in one piece.
class SendWqe {
 public:
  /// Bytes of the largest WQE; limits cap.max_send_sge and cap.max_inline_data.
  static constexpr std::uint32_t kMaxBytes = 1024;
  static constexpr std::uint32_t kMaxInline =
      kMaxBytes - hw::send_wqe_data_offset(hw::WrOpcode::kSend, hw::QpType::kUd);
  static constexpr std::uint32_t kMaxSge = kMaxInline / sizeof(hw::Sge);

  /// Takes data or elements of a request.
  /// @return 0; -EINVAL an element's key, too much inline data or a message over 2^31 bytes
  int gather(rvt_qp* qp, const ib_send_wr* wr);
  /// The same for a datagram.
  int gather_datagram(rvt_qp* qp, const ib_ud_wr* wr);
  /// Does to the driver's books what a REG_MR or LOCAL_INV will do to the adapter's.
  /// @return 0; -EINVAL other operations, key or region; -EACCES region of another domain
  int take_local(rvt_qp* qp, const ib_send_wr* wr);
  /// Leaves a LOCAL_INV to the send engine. @return 0
  int leave_local();
  /// Fills in the rest and writes the WQE to `slot`.
  void store(const rvt_qp* qp, const ib_send_wr* wr, std::uint32_t slot);

  /// Bytes of the message.
  std::uint32_t length() const { return static_cast<std::uint32_t>(length_); }
  /// Elements it ended up with.
  std::uint8_t num_sge() const { return num_sge_; }

 private:
  int collect(rvt_qp* qp, const ib_send_wr* wr, std::uint32_t offset);
  int take_registration(rvt_qp* qp, const ib_reg_wr* wr);
  int copy_inline(rvt_qp* qp, const ib_send_wr* wr);
  int check_elements(rvt_qp* qp, const ib_send_wr* wr);
  void append(const rvt_sge& sge);
  void pad();
  void fill_segments(const rvt_qp* qp, const ib_send_wr* wr, std::uint32_t slot);
  void fill_datagram(const ib_ud_wr* wr);
  void fill_operands(const ib_atomic_wr* wr);

  // Not cleared: only what is used is written. The last block is for pad().
  alignas(16) std::uint8_t bytes_[kMaxBytes + hw::kWqeBlockBytes];
  std::uint32_t used_ = 0;
  std::uint64_t length_ = 0;
  std::uint8_t num_sge_ = 0;
};

}  // namespace hcasim::rvt
