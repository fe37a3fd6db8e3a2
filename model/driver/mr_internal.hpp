// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hcasim/hw/host_port.hpp"
#include "hcasim/rvt/rdma_vt.hpp"

namespace hcasim::rvt {

/// Rights that the adapter knows of.
inline constexpr std::uint32_t kAdapterAccess = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
                                                IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC;

/// Bytes of a page of a region.
inline std::uint64_t rvt_mr_page_bytes(const rvt_mregion& mr) {
  return std::uint64_t{1} << mr.page_shift;
}

/// Writes `count` entries of a translation table, at `mtt` of host memory. Host memory is
/// contiguous, so the pages follow one another.
/// @param page address of the first
void rvt_write_translation(hw::HostPort& port, std::uint64_t mtt, std::uint64_t page,
                           std::uint64_t page_bytes, std::uint32_t count);

/// Gives a region, whose translation table is written, a key and the adapter its entry. Tasks only.
/// @return 0; -ENOMEM no key; errors of the adapter
int rvt_create_region(rvt_dev_info* rdi, rvt_mregion& mr);

/// Marks the region of a key that the peer has invalidated. Any context.
void rvt_peer_invalidated(const rvt_qp* qp, std::uint32_t rkey);

/// Takes note of the REG_MRs in the slots from s_last up to, not including, `end`, which are about
/// to be retired. All have been carried out, the last one only if it `succeeded`. Any context.
void rvt_retire_registrations(rvt_qp* qp, std::uint32_t end, bool succeeded);
/// The same when the queue pair is emptied. What the adapter had not begun it has flushed with a
/// completion if it had the time; the rest is taken to be done.
void rvt_forget_registrations(rvt_qp* qp);

}  // namespace hcasim::rvt
