// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <systemc>

#include "hca/adapter_module.hpp"
#include "hcasim/rvt/device.hpp"
#include "hcasim/sim/config.hpp"
#include "host/host_module.hpp"
#include "sim/engine/engine_module.hpp"

namespace hcasim::sim {

/// Where a node is on the network.
struct NodeAddress {
  rvt::ib_gid gid;
  rvt::mac_address mac{};
};

/// The address of the node with this index: 10.0.0.(index + 1) and a locally administered MAC.
NodeAddress address_of_node(std::size_t index);

/// One host with its adapter and the driver on top, wired up.
class NodeSystem : public sc_core::sc_module {
 public:
  NodeSystem(const sc_core::sc_module_name& module_name, const std::string& name, std::size_t index,
             const NodeConfig& config, std::uint64_t seed, Conductor& conductor);

  const std::string& node_name() const { return name_; }
  const NodeAddress& address() const { return address_; }
  const NodeConfig& config() const { return config_; }
  EngineModule& engine_module() { return engine_; }
  Engine& engine() { return engine_.engine(); }
  host::HostModule& host() { return host_; }
  hca::AdapterModule& adapter() { return adapter_; }
  rvt::rvt_dev_info* device() { return device_.get(); }

 private:
  std::string name_;
  std::string device_name_;  // hcasim0 for the first node
  NodeAddress address_;
  NodeConfig config_;
  EngineModule engine_;
  host::HostModule host_;
  hca::AdapterModule adapter_;
  rvt::rvt_device_ptr device_;
};

}  // namespace hcasim::sim
