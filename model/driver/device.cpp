// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Bringing a device up and down.
#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

#include "driver/command.hpp"
#include "driver/event_queue.hpp"
#include "driver/no_memory.hpp"
#include "driver/send_wqe.hpp"
#include "driver/trace.hpp"
#include "hcasim/hw/bar.hpp"
#include "hcasim/hw/receive_queue_ports.hpp"
#include "hcasim/rvt/rdma_vt.hpp"

namespace hcasim::rvt {
namespace {

bool params_ok(const rvt_driver_params& params) {
  constexpr std::uint32_t kMaxVectors = 63;
  constexpr std::uint32_t kMaxPageShift = 30;
  return params.num_comp_vectors >= 1 && params.num_comp_vectors <= kMaxVectors &&
         params.page_shift >= 12 && params.page_shift <= kMaxPageShift && params.eq_entries >= 2 &&
         params.qos_shift < 8 && params.qpn_inc << params.qos_shift != 0 &&
         params.qpn_inc << params.qos_shift < 256;
}

int start_event_queue(rvt_dev_info* rdi, std::uint32_t eqn) {
  auto queue = try_to_make<EventQueue>(rdi, eqn);
  if (!queue) return -ENOMEM;
  const int error = queue->start();
  if (error != 0) return error;
  return or_no_memory([&] { rdi->event_queues.push_back(std::move(queue)); });
}

// Event queue 0 carries the answers to commands, so it is made by registers.
int start_commands(rvt_dev_info* rdi) {
  rdi->port->mmio_write64(hw::bar::kReset, 1);
  rdi->commands = try_to_make<CommandChannel>(rdi);
  if (!rdi->commands) return -ENOMEM;
  int error = rdi->commands->start();
  if (error == 0) error = start_event_queue(rdi, 0);
  if (error != 0) return error;
  const hw::EqContext context = rdi->event_queues.front()->context();
  rdi->port->mmio_write64(hw::bar::kEqBase, context.base);
  rdi->port->mmio_write64(hw::bar::kEqSize, context.entries);
  return 0;
}

int start_completion_queues(rvt_dev_info* rdi) {
  for (std::uint32_t eqn = 1; eqn <= rdi->dparms.num_comp_vectors; ++eqn) {
    int error = start_event_queue(rdi, eqn);
    if (error != 0) return error;
    error = rdi->commands->send({.opcode = hw::CommandOpcode::kCreateEq, .object = eqn},
                                rdi->event_queues.back()->context());
    if (error != 0) return error;
  }
  return 0;
}

// Limits are the adapter's, as far as the driver's own structures go along.
int set_limits(rvt_dev_info* rdi) {
  const auto least = [](std::uint32_t adapter, std::uint32_t driver) {
    return static_cast<int>(std::min(adapter, driver));
  };
  constexpr std::uint32_t kAny = INT32_MAX;
  const hw::DeviceLimits& limits = rdi->limits;
  ib_device_attr& attrs = rdi->ibdev.attrs;
  attrs.max_qp = least(limits.max_qp, kAny);
  attrs.max_qp_wr = least(limits.max_qp_wr, hw::rq::kMaxRingWrs);
  attrs.max_send_sge = least(limits.max_send_sge, SendWqe::kMaxSge);
  attrs.max_recv_sge = least(limits.max_recv_sge, hw::kMaxReceiveSge);
  attrs.max_inline_data = least(limits.max_inline_data, SendWqe::kMaxInline);
  attrs.max_cq = least(limits.max_cq, kAny);
  attrs.max_cqe = least(limits.max_cqe, kAny);
  attrs.max_mcast_grp = least(limits.max_mcast_grp, kAny);
  attrs.max_mcast_qp_attach = least(limits.max_mcast_qp_attach, kAny);
  attrs.max_total_mcast_qp_attach = static_cast<int>(std::min<std::uint64_t>(
      kAny, std::uint64_t{limits.max_mcast_grp} * limits.max_mcast_qp_attach));
  attrs.max_srq = least(limits.max_srq, kAny);
  attrs.max_srq_wr = least(hw::rq::kMaxRingWrs, kAny);
  attrs.max_srq_sge = attrs.max_recv_sge;
  attrs.max_pd = least(rdi->dparms.max_pd, kAny);
  attrs.max_ah = least(rdi->dparms.max_ah, kAny);
  attrs.max_mr = least(limits.max_mr, 1u << rdi->dparms.lkey_table_size);
  rdi->dparms.max_rdma_atomic = std::min(rdi->dparms.max_rdma_atomic, limits.max_rd_atomic);
  attrs.page_size_cap = std::uint64_t{1} << rdi->dparms.page_shift;
  attrs.max_fast_reg_page_list_len = 1 << 28;
  attrs.cq_caps = {UINT16_MAX, hw::kMaxCqPeriod};
  attrs.max_qp_rd_atom = least(rdi->dparms.max_rdma_atomic, kAny);
  attrs.max_qp_init_rd_atom = 255;
  rdi->ibdev.num_comp_vectors = static_cast<int>(rdi->dparms.num_comp_vectors);
  rdi->ibdev.phys_port_cnt = std::max(limits.ports, 1u);
  return or_no_memory([&] { rdi->ports.assign(rdi->ibdev.phys_port_cnt, rvt_ibport{}); });
}

// The adapter keeps its contexts in the host's memory.
int lend_context_memory(rvt_dev_info* rdi) {
  const std::uint64_t bytes = rdi->limits.icm_bytes;
  if (bytes == 0) return 0;
  rdi->icm = rdi->port->allocate(bytes, bytes);
  if (rdi->icm == 0) return -ENOMEM;
  rdi->port->mmio_write64(hw::bar::kIcmBase, rdi->icm);
  return 0;
}

int start_adapter(rvt_dev_info* rdi) {
  int error = start_commands(rdi);
  if (error == 0) {
    error = rdi->commands->fetch({.opcode = hw::CommandOpcode::kQueryDevice}, rdi->limits);
  }
  if (error != 0) return error;
  error = set_limits(rdi);
  if (error == 0) error = lend_context_memory(rdi);
  return error != 0 ? error : start_completion_queues(rdi);
}

void stop_adapter(rvt_dev_info* rdi) {
  rdi->port->mmio_write64(hw::bar::kReset, 1);
  if (rdi->icm != 0) {
    rdi->port->mmio_write64(hw::bar::kIcmBase, 0);
    rdi->port->release(std::exchange(rdi->icm, 0));
  }
  rdi->event_queues.clear();
  // Objects that outlive the device's run can still be destroyed.
  if (rdi->commands) rdi->commands->stop();
}

// Only that the adapter has failed is remembered.
void undo_registration(rvt_dev_info* rdi) {
  stop_adapter(rdi);
  if (!rvt_device_failed(rdi)) rdi->commands.reset();
  rvt_qp_exit(rdi);
  rdi->lkey_table.table = {};
}

}  // namespace

rvt_dev_info::rvt_dev_info() = default;
rvt_dev_info::~rvt_dev_info() = default;

rvt_device_ptr rvt_alloc_device(hw::HostPort& port, const rvt_driver_params& params) {
  rvt_device_ptr rdi(new (std::nothrow) rvt_dev_info);
  if (!rdi) return rdi;
  rdi->port = &port;
  rdi->dparms = params;
  rdi->ibdev.name = params.name;
  rdi->uar = hw::bar::kUarBase;
  return rdi;
}

int rvt_register_device(rvt_dev_info* rdi) {
  if (!params_ok(rdi->dparms)) return -EINVAL;
  if (!rdi->port->may_wait()) return -EDEADLK;
  trace_dbg(rdi, "Driver attempting registration");
  if (rdi->port->mmio_read64(hw::bar::kDeviceId) != hw::bar::kDeviceIdValue) return -ENODEV;
  int error = rvt_driver_mr_init(rdi);
  if (error == 0) error = rvt_driver_qp_init(rdi);
  if (error == 0) error = start_adapter(rdi);
  if (error != 0) {
    undo_registration(rdi);
    return error;
  }
  rdi->registered = true;
  trace_dbg(rdi, "Registration with the adapter done");
  return 0;
}

unsigned rvt_unregister_device(rvt_dev_info* rdi) {
  if (!rdi->registered) return 0;
  rdi->registered = false;
  const unsigned left = rvt_qp_exit(rdi);
  stop_adapter(rdi);
  return left;
}

void rvt_dev_deleter::operator()(rvt_dev_info* rdi) const {
  rvt_unregister_device(rdi);
  delete rdi;
}

ib_device* rvt_ib_device(rvt_dev_info* rdi) {
  return &rdi->ibdev;
}

void rvt_set_event_handler(rvt_dev_info* rdi, ib_event_handler_t handler, void* context) {
  rdi->event_handler = handler;
  rdi->event_context = context;
}

rvt_loop_counters rvt_count_loopback(const rvt_dev_info* rdi) {
  rvt_loop_counters sum;
  for (const rvt_ibport& port : rdi->ports) {
    sum.n_loop_pkts += port.n_loop_pkts;
    sum.n_rnr_naks += port.n_rnr_naks;
    sum.n_pkt_drops += port.n_pkt_drops;
  }
  return sum;
}

bool rvt_device_failed(const rvt_dev_info* rdi) {
  return rdi->commands != nullptr && rdi->commands->failed();
}

}  // namespace hcasim::rvt
