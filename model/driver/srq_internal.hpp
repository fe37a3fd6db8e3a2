// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hcasim/hw/contexts.hpp"
#include "hcasim/hw/cqe.hpp"
#include "hcasim/rvt/rdma_vt.hpp"

namespace hcasim::rvt {

/// Tells the adapter what is posted. Any context.
void rvt_ring_srq(rvt_srq* srq);
/// Gives it a ring of max_wr receives, and a limit if there is one; `mutex` held. Tasks only.
/// @return as rvt_modify_srq
int rvt_resize_srq(rvt_srq* srq, std::uint32_t max_wr, const std::uint32_t* limit);
/// The context of a shared receive queue as the driver knows it now.
hw::SrqContext rvt_srq_context(const rvt_srq* srq);
/// What the driver does with the adapter's event of a shared receive queue. Interrupt context.
/// @return false when it makes no sense
bool rvt_handle_srq_event(rvt_srq* srq, const hw::Eqe& eqe);

}  // namespace hcasim::rvt
