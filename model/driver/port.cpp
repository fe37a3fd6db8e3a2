// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Ports.
#include "hcasim/rvt/rdmavt_port.hpp"

#include <cerrno>

#include "driver/command.hpp"
#include "driver/qp_internal.hpp"
#include "hcasim/rvt/rdma_vt.hpp"

namespace hcasim::rvt {

int rvt_query_port(ib_device* ibdev, std::uint32_t port_num, ib_port_attr* props) {
  rvt_dev_info* rdi = ib_to_rvt(ibdev);
  if (port_num == 0 || port_num > rdi->ports.size()) return -EINVAL;
  hw::PortInfo info{};
  const int error =
      rdi->commands->fetch({.opcode = hw::CommandOpcode::kQueryPort, .object = port_num}, info);
  if (error != 0) return error;
  props->state = info.active != 0 ? IB_PORT_ACTIVE : IB_PORT_DOWN;
  props->max_mtu = props->active_mtu = static_cast<ib_mtu>(rvt_port_mtu(rdi));
  props->gid_tbl_len = rdi->dparms.gid_table_len;
  props->pkey_tbl_len = rdi->dparms.npkeys;
  props->max_msg_sz = RVT_MAX_MESSAGE;
  return 0;
}

}  // namespace hcasim::rvt
