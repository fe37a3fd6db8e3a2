// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hcasim/hw/contexts.hpp"
#include "hcasim/rvt/rdma_vt.hpp"

namespace hcasim::rvt {

/// Moves a queue pair to ERR and tells the driver above; r_lock and s_lock held. No effect in ERR
/// and RESET.
/// @return true when it was moved
bool rvt_enter_error(rvt_qp* qp);
/// Tells the driver above of a reset, unless the queue pair was in RESET already.
void rvt_notify_reset(rvt_qp* qp, ib_qp_state before);
/// Raises an event of a queue pair, if it has a handler.
void rvt_raise_qp_event(rvt_qp* qp, ib_event_type type);

/// The context of a queue pair as the driver knows it now.
hw::QpContext rvt_qp_context(const rvt_qp* qp);
/// Lays the members of `attr` named by `mask` over a context.
void rvt_overlay_context(hw::QpContext& context, const ib_qp_attr& attr, std::uint32_t mask,
                         const rvt_dev_info* rdi);
/// Lays the members of `attr` named by `mask` over a queue pair.
void rvt_commit_attributes(rvt_qp* qp, const ib_qp_attr& attr, std::uint32_t mask);
/// A path as the adapter wants it.
hw::AddressVector rvt_address_vector(const rdma_ah_attr& ah);
/// Code of the port's MTU, which is that of every datagram's path.
std::uint8_t rvt_port_mtu(const rvt_dev_info* rdi);
/// Code of the path MTU for a request: that of the port at most; 0 for an unknown code.
std::uint8_t rvt_path_mtu(const rvt_dev_info* rdi, ib_mtu requested);
/// Every value that rvt_modify_qp checks once it knows the states. @return 0; -EINVAL
int rvt_check_modify(rvt_qp* qp, const ib_qp_attr& attr, std::uint32_t mask, ib_qp_state next);
/// Moves completions of both CQs out of reach of what happens to the queue pair.
void rvt_collect_qp_cqs(rvt_qp* qp);
/// Enters or removes a queue pair in the table by number. @return 0; -ENOMEM
int rvt_publish_qp(rvt_dev_info* rdi, rvt_qp* qp);
void rvt_unpublish_qp(rvt_dev_info* rdi, rvt_qp* qp);

/// Next slot of a ring.
constexpr std::uint32_t rvt_next_slot(std::uint32_t slot, std::uint32_t size) {
  return slot + 1 >= size ? 0 : slot + 1;
}
/// Slots from `from` up to, not including, `to`.
constexpr std::uint32_t rvt_slots_between(std::uint32_t from, std::uint32_t to,
                                          std::uint32_t size) {
  return to >= from ? to - from : to + size - from;
}

}  // namespace hcasim::rvt
