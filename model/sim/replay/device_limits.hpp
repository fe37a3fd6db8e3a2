// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "hcasim/rvt/rdma_vt.hpp"
#include "hcasim/rvt/verbs.hpp"

namespace hcasim::sim {

/// Why a device does not make such a queue pair: the argument of the trace and the key of the
/// configuration that limits it. Empty when it has another reason.
std::string beyond_limits(const rvt::ib_qp_cap& cap, const rvt::ib_device_attr& limits);

/// The same of a shared receive queue.
std::string beyond_limits(const rvt::ib_srq_attr& attr, const rvt::ib_device_attr& limits);

/// The same of a completion queue.
std::string beyond_limits(const rvt::ib_cq_init_attr& attr, const rvt::ib_device_attr& limits);

/// The same of a queue pair that is to serve so many READs and atomics at a time.
std::string beyond_limits(std::uint32_t max_dest_rd_atomic, const rvt::ib_device_attr& limits);

/// Why a device does not make one more: it has as many as the configuration allows. Empty when it
/// has another reason.
std::string no_more_qps(const rvt::rvt_dev_info& device);
std::string no_more_cqs(const rvt::rvt_dev_info& device);
std::string no_more_srqs(const rvt::rvt_dev_info& device);

}  // namespace hcasim::sim
