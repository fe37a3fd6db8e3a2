// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "hcasim/hw/host_port.hpp"
#include "hcasim/rvt/ib_objects.hpp"
#include "hcasim/rvt/params.hpp"

/// Bringing a device up and down.
namespace hcasim::rvt {

struct rvt_dev_info;

/// Takes a device apart; stops it first when it still runs (then in a task).
struct rvt_dev_deleter {
  void operator()(rvt_dev_info* rdi) const;
};
using rvt_device_ptr = std::unique_ptr<rvt_dev_info, rvt_dev_deleter>;

/// Makes a device that drives the adapter behind `port`; does nothing with the adapter yet. Any
/// context. `port` must outlive the device. Null: no memory.
rvt_device_ptr rvt_alloc_device(hw::HostPort& port, const rvt_driver_params& params);

/// Starts the adapter: event queues, limits, completion vectors. Tasks only.
/// @return 0; -ENODEV no such adapter there; -EINVAL parameters out of range; -ENOMEM; -EIO no
///   answer
int rvt_register_device(rvt_dev_info* rdi);

/// Stops the adapter and gives its memory back. Tasks only.
/// @return how many queue pairs were still there; each has been reset but not freed
unsigned rvt_unregister_device(rvt_dev_info* rdi);

/// The device as verbs callers see it; its limits are valid once registered.
ib_device* rvt_ib_device(rvt_dev_info* rdi);

/// Calls `handler` with the events of the device itself (IB_EVENT_DEVICE_FATAL) and of its ports
/// (IB_EVENT_PORT_ERR, IB_EVENT_PORT_ACTIVE, with the number of the port).
void rvt_set_event_handler(rvt_dev_info* rdi, ib_event_handler_t handler, void* context);

/// What the driver has looped back on all ports of a device, since it was registered.
struct rvt_loop_counters {
  std::uint64_t n_loop_pkts = 0;  ///< messages looped back
  std::uint64_t n_rnr_naks = 0;   ///< times that no receive was there for one
  std::uint64_t n_pkt_drops = 0;  ///< messages without a queue pair to take them
};
rvt_loop_counters rvt_count_loopback(const rvt_dev_info* rdi);

/// True once a command was not answered in time: every later control verb fails with -EIO.
bool rvt_device_failed(const rvt_dev_info* rdi);

}  // namespace hcasim::rvt
