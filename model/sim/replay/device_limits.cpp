// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/replay/device_limits.hpp"

#include <initializer_list>

namespace hcasim::sim {

namespace {

struct Limit {
  const char* argument;
  std::uint32_t value;
  const char* key;
  int most;
};

std::string first_exceeded(std::initializer_list<Limit> limits) {
  for (const Limit& limit : limits) {
    if (limit.value <= static_cast<std::uint32_t>(limit.most)) continue;
    return std::string(limit.argument) + '=' + std::to_string(limit.value) + " is above " +
           limit.key + '=' + std::to_string(limit.most);
  }
  return {};
}

std::string full(int count, const char* objects, const char* key, int most) {
  if (count < most) return {};
  return "no more " + std::string(objects) + " than " + key + '=' + std::to_string(most);
}

}  // namespace

std::string beyond_limits(const rvt::ib_qp_cap& cap, const rvt::ib_device_attr& limits) {
  return first_exceeded({
      {"max_send_wr", cap.max_send_wr, "hca.device.max_qp_wr", limits.max_qp_wr},
      {"max_recv_wr", cap.max_recv_wr, "hca.device.max_qp_wr", limits.max_qp_wr},
      {"max_send_sge", cap.max_send_sge, "hca.device.max_send_sge", limits.max_send_sge},
      {"max_recv_sge", cap.max_recv_sge, "hca.device.max_recv_sge", limits.max_recv_sge},
      {"max_inline_data", cap.max_inline_data, "hca.device.max_inline_bytes",
       limits.max_inline_data},
  });
}

std::string beyond_limits(const rvt::ib_srq_attr& attr, const rvt::ib_device_attr& limits) {
  return first_exceeded({
      {"max_sge", attr.max_sge, "hca.device.max_recv_sge", limits.max_srq_sge},
      {"max_wr", attr.max_wr, "the device's max_srq_wr", limits.max_srq_wr},
  });
}

std::string beyond_limits(const rvt::ib_cq_init_attr& attr, const rvt::ib_device_attr& limits) {
  return first_exceeded({{"cqe", attr.cqe, "hca.device.max_cqe", limits.max_cqe}});
}

std::string beyond_limits(std::uint32_t max_dest_rd_atomic, const rvt::ib_device_attr& limits) {
  return first_exceeded(
      {{"max_rd_atomic", max_dest_rd_atomic, "hca.device.max_rd_atomic", limits.max_qp_rd_atom}});
}

std::string no_more_qps(const rvt::rvt_dev_info& device) {
  return full(device.n_qps_allocated, "queue pairs", "hca.device.max_qp",
              device.ibdev.attrs.max_qp);
}

std::string no_more_cqs(const rvt::rvt_dev_info& device) {
  return full(device.n_cqs_allocated, "completion queues", "hca.device.max_cq",
              device.ibdev.attrs.max_cq);
}

std::string no_more_srqs(const rvt::rvt_dev_info& device) {
  return full(device.n_srqs_allocated, "shared receive queues", "hca.device.max_srq",
              device.ibdev.attrs.max_srq);
}

}  // namespace hcasim::sim
