// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/replay/device_limits.hpp"

namespace hcasim::sim {

namespace {

struct Limit {
  const char* argument;
  std::uint32_t value;
  const char* key;
  int most;
};

std::string text(const Limit& limit) {
  return std::string(limit.argument) + '=' + std::to_string(limit.value) + " is above " +
         limit.key + '=' + std::to_string(limit.most);
}

bool exceeded(const Limit& limit) {
  return limit.value > static_cast<std::uint32_t>(limit.most);
}

}  // namespace

std::string beyond_limits(const rvt::ib_qp_cap& cap, const rvt::ib_device_attr& limits) {
  const Limit all[] = {
      {"max_send_wr", cap.max_send_wr, "hca.device.max_qp_wr", limits.max_qp_wr},
      {"max_recv_wr", cap.max_recv_wr, "hca.device.max_qp_wr", limits.max_qp_wr},
      {"max_send_sge", cap.max_send_sge, "hca.device.max_send_sge", limits.max_send_sge},
      {"max_recv_sge", cap.max_recv_sge, "hca.device.max_recv_sge", limits.max_recv_sge},
      {"max_inline_data", cap.max_inline_data, "hca.device.max_inline_bytes",
       limits.max_inline_data},
  };
  for (const Limit& limit : all) {
    if (exceeded(limit)) return text(limit);
  }
  return {};
}

std::string beyond_limits(const rvt::ib_srq_attr& attr, const rvt::ib_device_attr& limits) {
  const Limit sges{"max_sge", attr.max_sge, "hca.device.max_recv_sge", limits.max_srq_sge};
  return exceeded(sges) ? text(sges) : std::string();
}

std::string beyond_limits(std::uint32_t max_dest_rd_atomic, const rvt::ib_device_attr& limits) {
  const Limit limit{"max_rd_atomic", max_dest_rd_atomic, "hca.device.max_rd_atomic",
                    limits.max_qp_rd_atom};
  return exceeded(limit) ? text(limit) : std::string();
}

}  // namespace hcasim::sim
