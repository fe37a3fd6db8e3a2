// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <memory>
#include <string>
#include <systemc>

#include "hca/adapter_module.hpp"
#include "hcasim/rvt/device.hpp"
#include "hcasim/sim/config.hpp"
#include "host/host_module.hpp"
#include "sim/engine/engine_module.hpp"
#include "sim/system/receive_queue_maker.hpp"

namespace hcasim::sim {

/// Where a node is on the network.
struct NodeAddress {
  rvt::ib_gid gid;
  rvt::mac_address mac{};
};

/// The address of a port, both counted from 0: 10.PORT.0.(index + 1) and a locally administered
/// MAC.
NodeAddress address_of_node(std::size_t index, std::uint32_t port = 0);

/// A host with an adapter and the driver on top, wired up; or one more adapter, with its driver, in
/// the host of another node.
class NodeSystem : public sc_core::sc_module {
 public:
  NodeSystem(const sc_core::sc_module_name& module_name, const std::string& name, std::size_t index,
             const NodeConfig& config, std::uint64_t seed, Conductor& conductor,
             ReceiveQueueMaker* receive_queues = nullptr);
  /// In a slot of its own of `neighbour`'s host, whose engine and memory it shares. `neighbour`
  /// must outlive this.
  NodeSystem(const sc_core::sc_module_name& module_name, const std::string& name, std::size_t index,
             const NodeConfig& config, std::uint64_t seed, NodeSystem& neighbour,
             ReceiveQueueMaker* receive_queues = nullptr);

  const std::string& node_name() const { return name_; }
  /// Of a port, counted from 0.
  const NodeAddress& address(std::uint32_t port = 0) const { return addresses_[port]; }
  const NodeConfig& config() const { return config_; }
  /// The node that brought the host: itself, unless it was put into the host of another.
  const NodeSystem& host_owner() const { return owner_; }
  bool shares_host() const { return &owner_ != this; }
  EngineModule& engine_module() { return machine_->engine; }
  Engine& engine() { return machine_->engine.engine(); }
  host::HostModule& host() { return host_; }
  hca::AdapterModule& adapter() { return adapter_; }
  rvt::rvt_dev_info* device() { return device_.get(); }
  /// Takes the driver's device apart. Nodes of one host need each other for it.
  void release_device() { device_.reset(); }

 private:
  NodeSystem(const sc_core::sc_module_name& module_name, const std::string& name, std::size_t index,
             const NodeConfig& config, std::uint64_t seed, Conductor* conductor,
             NodeSystem* neighbour, ReceiveQueueMaker* receive_queues);

  std::string name_;
  std::string device_name_;  // hcasim0 for the first node
  std::array<NodeAddress, hw::kMaxPorts> addresses_;
  NodeConfig config_;
  NodeSystem& owner_;
  std::unique_ptr<EngineModule> engine_;  // null: that of the owner
  std::shared_ptr<host::Machine> machine_;
  host::HostModule host_;
  hca::AdapterModule adapter_;
  rvt::rvt_device_ptr device_;
};

}  // namespace hcasim::sim
