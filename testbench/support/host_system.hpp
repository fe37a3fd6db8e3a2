// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "host/host_module.hpp"
#include "pcie/bar_target_socket.hpp"
#include "pcie/dma_initiator.hpp"
#include "support/base_protocol_checker.hpp"
#include "support/pcie_node.hpp"
#include "support/recording_bar.hpp"

namespace hcasim::testing {

/// A host and the sockets of an adapter, with a protocol checker on each bus where wanted.
struct System {
  explicit System(bool run_ahead = true, bool checked = true, const char* name = "n")
      : conductor(run_ahead),
        node(name, conductor),
        host((std::string(name) + "_host").c_str(), node, pcie::Parameters{}, host::Parameters{},
             64 << 20, 1),
        dma((std::string(name) + "_dma").c_str(), node, pcie::Parameters{}),
        bar_socket((std::string(name) + "_bar").c_str(), node, pcie::Parameters{}, dma.endpoint()),
        bar(node.engine()),
        client(node.engine()),
        at(node.engine()) {
    bar_socket.set_target(bar);
    if (checked) {
      dma_check = std::make_unique<BaseProtocolChecker>((std::string(name) + "_dc").c_str());
      bar_check = std::make_unique<BaseProtocolChecker>((std::string(name) + "_bc").c_str());
      dma.socket().bind(dma_check->in);
      dma_check->out.bind(host.dma_target());
      host.mmio_initiator().bind(bar_check->in);
      bar_check->out.bind(bar_socket.socket);
    } else {
      dma.socket().bind(host.dma_target());
      host.mmio_initiator().bind(bar_socket.socket);
    }
  }
  void run() {
    conductor.schedule_next();
    sc_core::sc_start();
  }
  void expect_clean() const {
    EXPECT_EQ(dma_check->report(), "");
    EXPECT_EQ(bar_check->report(), "");
    EXPECT_EQ(dma_check->under_way(), 0u);
    EXPECT_EQ(bar_check->under_way(), 0u);
  }
  Time now() { return node.engine().now(); }
  host::CpuPort& cpu() { return host.cpu(); }

  sim::Conductor conductor;
  sim::EngineModule node;
  host::HostModule host;
  pcie::DmaInitiator dma;
  pcie::BarTargetSocket bar_socket;
  RecordingBar bar;
  RecordingClient client;
  At at;
  std::unique_ptr<BaseProtocolChecker> dma_check;
  std::unique_ptr<BaseProtocolChecker> bar_check;
};

}  // namespace hcasim::testing
