// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// One end of a connection, in the words of the verbs.

#pragma once

#include <cstdint>
#include <hcasim/hw/host_port.hpp>
#include <hcasim/model/sim/system/node_system.hpp>
#include <hcasim/rvt/verbs.hpp>
#include <memory>
#include <string>

/// Throws what is wrong.
void require(bool condition, const std::string& what);

/// A program on one node: a region of memory, a completion queue and a queue pair. All of it runs
/// in tasks of the node (System::run_task, HostPort::start_task), as control verbs and waiting take
/// simulated time.
class Node {
 public:
  static constexpr std::uint32_t kBytes = 4096;

  explicit Node(hcasim::sim::NodeSystem& system);

  void create();
  void connect(const Node& peer);
  void destroy();

  // Offsets are into the region of the node, or of its peer.
  void post_receive(std::uint32_t offset, std::uint32_t length);
  void post_send(std::uint32_t offset, std::uint32_t length);
  void post_write(std::uint32_t offset, std::uint32_t length, const Node& peer,
                  std::uint32_t peer_offset);
  /// Polls until there is one; throws when it failed or takes too long.
  hcasim::rvt::ib_wc await_completion();

  void write(std::uint32_t offset, const std::string& text);
  std::string read(std::uint32_t offset, std::size_t length);
  /// The present time, with what the CPU has spent so far.
  hcasim::hw::Time now() { return port_.now(); }

 private:
  hcasim::sim::NodeSystem& system_;
  hcasim::hw::HostPort& port_;  // the machine: memory, time, tasks
  std::unique_ptr<hcasim::hw::WaitPoint> pause_;
  std::uint64_t memory_ = 0;
  hcasim::rvt::ib_pd* pd_ = nullptr;
  hcasim::rvt::ib_mr* mr_ = nullptr;
  hcasim::rvt::ib_cq* cq_ = nullptr;
  hcasim::rvt::ib_qp* qp_ = nullptr;
};
