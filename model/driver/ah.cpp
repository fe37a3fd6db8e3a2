// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Address handles.
#include "hcasim/rvt/rdmavt_ah.hpp"

#include <cerrno>

#include "driver/qp_internal.hpp"
#include "hcasim/rvt/rdma_vt.hpp"

namespace hcasim::rvt {

int rvt_modify_ah(ib_ah* ibah, const rdma_ah_attr* attr) {
  if (rvt_check_ah(ibah->device, attr) != 0) return -EINVAL;
  rvt_ah* ah = ibah_to_rvtah(ibah);
  ah->attr = *attr;
  ah->av = rvt_address_vector(*attr);
  return 0;
}

int rvt_create_ah(ib_ah* ibah, const rdma_ah_attr* attr) {
  const DataVerb verb("create_ah");
  rvt_dev_info* rdi = ib_to_rvt(ibah->device);
  const int error = rvt_modify_ah(ibah, attr);
  if (error != 0) return error;
  {
    const InterruptsOff off;
    if (rdi->n_ahs_allocated == rdi->ibdev.attrs.max_ah) return -ENOMEM;
    ++rdi->n_ahs_allocated;
  }
  rvt_ah* ah = ibah_to_rvtah(ibah);
  ah->log_pmtu = static_cast<std::uint8_t>(7 + rvt_port_mtu(rdi));
  if (rdi->driver_f.notify_new_ah != nullptr) rdi->driver_f.notify_new_ah(ibah->device, attr, ah);
  return 0;
}

int rvt_query_ah(ib_ah* ibah, rdma_ah_attr* attr) {
  *attr = ibah_to_rvtah(ibah)->attr;
  return 0;
}

int rvt_destroy_ah(ib_ah* ibah) {
  --ib_to_rvt(ibah->device)->n_ahs_allocated;
  return 0;
}

int rvt_check_ah(ib_device* ibdev, const rdma_ah_attr* ah_attr) {
  constexpr std::uint8_t kFirstRate = 2;  // 2.5 Gb/s
  constexpr std::uint8_t kLastRate = 22;  // 600 Gb/s
  const rvt_dev_info* rdi = ib_to_rvt(ibdev);
  if (ah_attr->port_num < 1 || ah_attr->port_num > rdi->ports.size()) return -EINVAL;
  const std::uint8_t rate = ah_attr->static_rate;
  if (rate != 0 && (rate < kFirstRate || rate > kLastRate)) return -EINVAL;
  const bool grh = (ah_attr->ah_flags & IB_AH_GRH) != 0;
  if (grh && ah_attr->grh.sgid_index >= rdi->dparms.gid_table_len) return -EINVAL;
  return rdi->driver_f.check_ah != nullptr ? rdi->driver_f.check_ah(ibdev, ah_attr) : 0;
}

}  // namespace hcasim::rvt
