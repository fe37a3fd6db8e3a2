// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hcasim/rvt/ib_enums.hpp"
#include "hcasim/rvt/ib_objects.hpp"

/// Ports: what the kernel has in rdmavt/vt.c and ib_verbs.h.
namespace hcasim::rvt {

/// State of a port.
enum ib_port_state : std::uint8_t {
  IB_PORT_DOWN = 1,
  IB_PORT_ACTIVE = 4,
};

/// What a port is and can do.
struct ib_port_attr {
  ib_port_state state = IB_PORT_DOWN;
  ib_mtu max_mtu = IB_MTU_4096;
  ib_mtu active_mtu = IB_MTU_4096;
  std::uint32_t gid_tbl_len = 0;
  std::uint32_t pkey_tbl_len = 0;
  std::uint64_t max_msg_sz = 0;  ///< bytes
};

/// Asks the adapter for a port. Tasks only.
/// @param port_num 1-based
/// @return 0; -EINVAL no such port; -EIO; -EDEADLK the caller must not wait
int rvt_query_port(ib_device* ibdev, std::uint32_t port_num, ib_port_attr* props);

}  // namespace hcasim::rvt
