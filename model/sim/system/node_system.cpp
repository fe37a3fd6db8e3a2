// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/system/node_system.hpp"

#include "hca/receive_queue/receive_queue_model.hpp"

namespace hcasim::sim {

namespace {

// What a driver may allocate: more than any run needs; pages that are not touched cost nothing.
constexpr std::uint64_t kHostMemoryBytes = std::uint64_t{1} << 40;

std::unique_ptr<hca::ReceiveQueueUnit> make_receive_queue(const hca::Parameters& parameters) {
  return std::make_unique<hca::ReceiveQueueModel>(
      hca::Adapter::receive_queue_parameters(parameters));
}

rvt::rvt_driver_params driver_parameters(const NodeConfig& config) {
  rvt::rvt_driver_params params;
  params.costs.post_send = config.host.post_send_ns * hw::kNanosecond;
  params.costs.post_recv = config.host.post_recv_ns * hw::kNanosecond;
  params.costs.poll_cqe = config.host.poll_hit_ns * hw::kNanosecond;
  params.rdmavt_compat = config.rvt.rdmavt_compat;
  params.blue_flame = config.rvt.blue_flame;
  params.copy_gb_per_s = config.rvt.copy_gb_per_s;
  params.loopback_on_wire = config.rvt.loopback_on_wire;
  return params;
}

}  // namespace

NodeAddress address_of_node(std::size_t index) {
  NodeAddress address;
  const std::size_t number = index + 1;
  address.gid.raw[10] = address.gid.raw[11] = 0xff;
  address.gid.raw[12] = 10;
  address.gid.raw[13] = static_cast<std::uint8_t>(number >> 16);
  address.gid.raw[14] = static_cast<std::uint8_t>(number >> 8);
  address.gid.raw[15] = static_cast<std::uint8_t>(number);
  address.mac = {0x02,
                 0,
                 0,
                 static_cast<std::uint8_t>(number >> 16),
                 static_cast<std::uint8_t>(number >> 8),
                 static_cast<std::uint8_t>(number)};
  return address;
}

NodeSystem::NodeSystem(const sc_core::sc_module_name& module_name, const std::string& name,
                       std::size_t index, const NodeConfig& config, std::uint64_t seed,
                       Conductor& conductor)
    : sc_core::sc_module(module_name),
      name_(name),
      address_(address_of_node(index)),
      config_(config),
      engine_(name.c_str(), conductor),
      host_("host", engine_, config.pcie, config.host, kHostMemoryBytes, seed + index),
      adapter_("hca0", engine_, config_.hca, config.pcie, config.fabric,
               make_receive_queue(config.hca), seed + index),
      device_(rvt::rvt_alloc_device(host_.cpu(), driver_parameters(config))) {
  adapter_.dma().bind(host_.dma_target());
  host_.mmio_initiator().bind(adapter_.bar());
}

}  // namespace hcasim::sim
