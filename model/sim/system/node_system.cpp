// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/system/node_system.hpp"

namespace hcasim::sim {

namespace {

// What a driver may allocate: more than any run needs; pages that are not touched cost nothing.
constexpr std::uint64_t kHostMemoryBytes = std::uint64_t{1} << 40;

std::unique_ptr<hca::ReceiveQueueUnit> make_receive_queue(const std::string& node,
                                                          const hca::Parameters& parameters,
                                                          ReceiveQueueMaker* maker) {
  if (maker != nullptr) return maker->make(node, parameters);
  return ReceiveQueueMaker(ReceiveQueueChoice{}).make(node, parameters);
}

rvt::rvt_driver_params driver_parameters(const NodeConfig& config, const std::string& device_name) {
  rvt::rvt_driver_params params;
  params.name = device_name.c_str();
  params.costs.post_send = config.host.post_send_ns * hw::kNanosecond;
  params.costs.post_recv = config.host.post_recv_ns * hw::kNanosecond;
  params.costs.poll_cqe = config.host.poll_hit_ns * hw::kNanosecond;
  params.rdmavt_compat = config.rvt.rdmavt_compat;
  params.blue_flame = config.rvt.blue_flame;
  params.copy_gb_per_s = config.rvt.copy_gb_per_s;
  params.loopback_on_wire = config.rvt.loopback_on_wire;
  return params;
}

// A host of its own, or that of a neighbour, with the units that follow named after this node.
std::shared_ptr<host::Machine> machine_for(const std::string& name, EngineModule* own,
                                           NodeSystem* neighbour) {
  if (own != nullptr) return std::make_shared<host::Machine>(*own, kHostMemoryBytes);
  neighbour->engine().name_units(name);
  return neighbour->host().machine();
}

}  // namespace

NodeAddress address_of_node(std::size_t index, std::uint32_t port) {
  NodeAddress address;
  const std::size_t number = index + 1;
  address.gid.raw[10] = address.gid.raw[11] = 0xff;
  address.gid.raw[12] = 10;
  address.gid.raw[13] = static_cast<std::uint8_t>(port);
  address.gid.raw[14] = static_cast<std::uint8_t>(number >> 8);
  address.gid.raw[15] = static_cast<std::uint8_t>(number);
  address.mac = {0x02,
                 0,
                 0,
                 static_cast<std::uint8_t>(port),
                 static_cast<std::uint8_t>(number >> 8),
                 static_cast<std::uint8_t>(number)};
  return address;
}

NodeSystem::NodeSystem(const sc_core::sc_module_name& module_name, const std::string& name,
                       std::size_t index, const NodeConfig& config, std::uint64_t seed,
                       Conductor& conductor, ReceiveQueueMaker* receive_queues)
    : NodeSystem(module_name, name, index, config, seed, &conductor, nullptr, receive_queues) {}

NodeSystem::NodeSystem(const sc_core::sc_module_name& module_name, const std::string& name,
                       std::size_t index, const NodeConfig& config, std::uint64_t seed,
                       NodeSystem& neighbour, ReceiveQueueMaker* receive_queues)
    : NodeSystem(module_name, name, index, config, seed, nullptr, &neighbour, receive_queues) {}

NodeSystem::NodeSystem(const sc_core::sc_module_name& module_name, const std::string& name,
                       std::size_t index, const NodeConfig& config, std::uint64_t seed,
                       Conductor* conductor, NodeSystem* neighbour,
                       ReceiveQueueMaker* receive_queues)
    : sc_core::sc_module(module_name),
      name_(name),
      device_name_("hcasim" + std::to_string(index)),
      config_(config),
      owner_(neighbour != nullptr ? neighbour->owner_ : *this),
      engine_(neighbour == nullptr ? std::make_unique<EngineModule>(name.c_str(), *conductor)
                                   : nullptr),
      machine_(machine_for(name, engine_.get(), neighbour)),
      host_("host", machine_, config.pcie, config.host, seed + index),
      adapter_("hca0", machine_->engine, config_.hca, config.pcie, config.fabric,
               make_receive_queue(name, config.hca, receive_queues), seed + index),
      device_(rvt::rvt_alloc_device(host_.cpu(), driver_parameters(config, device_name_))) {
  adapter_.dma().bind(host_.dma_target());
  host_.mmio_initiator().bind(adapter_.bar());
  for (std::uint32_t port = 0; port < addresses_.size(); ++port) {
    addresses_[port] = address_of_node(index, port);
  }
}

}  // namespace hcasim::sim
