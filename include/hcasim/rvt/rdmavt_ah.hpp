// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hcasim/hw/contexts.hpp"
#include "hcasim/rvt/ib_objects.hpp"

/// Address handles of the driver: what the kernel has in rdmavt's ah.c. They are the driver's
/// alone: a send carries a copy of the path, so a handle may go as soon as the send is posted.
namespace hcasim::rvt {

/// An address handle of the driver.
struct rvt_ah {
  ib_ah ibah;
  rdma_ah_attr attr;
  hw::AddressVector av{};     ///< the path as the adapter has it
  std::uint8_t log_pmtu = 0;  ///< log2 of the port's MTU
};

/// The driver's object behind a verbs object.
inline rvt_ah* ibah_to_rvtah(ib_ah* ah) {
  return reinterpret_cast<rvt_ah*>(ah);
}

/// Makes a handle in the caller's object, whose device and pd are set. Any context.
/// @return 0; -EINVAL path; -ENOMEM when max_ah exist
int rvt_create_ah(ib_ah* ibah, const rdma_ah_attr* attr);
/// Gives a handle another path; sends that are posted keep theirs. Any context.
/// @return 0; -EINVAL path
int rvt_modify_ah(ib_ah* ibah, const rdma_ah_attr* attr);
/// @return 0
int rvt_query_ah(ib_ah* ibah, rdma_ah_attr* attr);
/// @return 0
int rvt_destroy_ah(ib_ah* ibah);
/// Checks a path. Callers make every error -EINVAL.
/// @return 0; -EINVAL port, rate or GID index out of range; errors of rvt_driver_provided::check_ah
int rvt_check_ah(ib_device* ibdev, const rdma_ah_attr* ah_attr);

}  // namespace hcasim::rvt
