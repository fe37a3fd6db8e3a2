// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "hcasim/rvt/verbs.hpp"
#include "sim/system/system.hpp"
#include "support/bring_up.hpp"
#include "support/monitored_ports.hpp"
#include "support/protocol_monitor/expect_clean.hpp"

namespace hcasim::support {

/// What one end of a connection has.
struct Endpoint {
  rvt::ib_pd* pd = nullptr;
  rvt::ib_cq* cq = nullptr;
  rvt::ib_mr* mr = nullptr;
  rvt::ib_qp* qp = nullptr;
  std::uint64_t memory = 0;  ///< host address of the region; its iova too
};

/// Two nodes whose drivers run, each with a protection domain, a completion queue and a region; and
/// connections between them made and destroyed at will. Both ends are held against the
/// rules of the transport.
class ConnectedPair {
 public:
  /// `settings` are keys of the configuration with their values.
  explicit ConnectedPair(std::uint64_t memory_bytes, std::uint64_t seed = 1,
                         const std::vector<std::string>& settings = {},
                         const monitor::MonitorOptions& strictness = {})
      : rules_(strictness),
        system_(sim::load_config({.settings = settings}), {{"a", "b"}, seed, true}) {
    EXPECT_EQ(system_.start_devices(), 0);
    for (std::size_t i = 0; i < 2; ++i) {
      observe(system_.node(i), &rules_.add_port());
      system_.run_task(i, [&, i] {
        Endpoint& end = ends_[i];
        rvt::ib_device* device = rvt::rvt_ib_device(system_.node(i).device());
        end.pd = rvt::ib_alloc_pd(device);
        rvt::ib_cq_init_attr cq;
        cq.cqe = 4096;
        end.cq = rvt::ib_create_cq(device, nullptr, nullptr, nullptr, &cq);
        end.memory = system_.node(i).host().cpu().allocate(memory_bytes, 4096);
        constexpr std::uint32_t kAll = rvt::IB_ACCESS_LOCAL_WRITE | rvt::IB_ACCESS_REMOTE_WRITE |
                                       rvt::IB_ACCESS_REMOTE_READ | rvt::IB_ACCESS_REMOTE_ATOMIC;
        end.mr = rvt::ib_reg_user_mr(end.pd, end.memory, memory_bytes, end.memory, kAll);
      });
      EXPECT_FALSE(rvt::IS_ERR(ends_[i].cq));
      EXPECT_FALSE(rvt::IS_ERR(ends_[i].mr));
    }
  }

  ~ConnectedPair() {
    for (std::size_t i = 0; i < 2; ++i) {
      system_.run_task(i, [&, i] {
        rvt::ib_dereg_mr(ends_[i].mr);
        rvt::ib_destroy_cq(ends_[i].cq);
        rvt::ib_dealloc_pd(ends_[i].pd);
      });
      observe(system_.node(i), nullptr);
    }
    monitor::expect_clean(rules_);
  }
  ConnectedPair(const ConnectedPair&) = delete;
  ConnectedPair& operator=(const ConnectedPair&) = delete;

  sim::System& system() { return system_; }
  Endpoint& end(std::size_t node) { return ends_[node]; }
  monitor::ProtocolMonitor& rules() { return rules_; }

  /// One more connection; the ends' `qp` are its queue pairs.
  std::array<rvt::ib_qp*, 2> connect(const PairOptions& options) {
    for (std::size_t i = 0; i < 2; ++i) {
      system_.run_task(i, [&, i] { create(i, options); });
    }
    for (std::size_t i = 0; i < 2; ++i) {
      system_.run_task(
          i, [&, i] { to_rts(ends_[i].qp, ends_[1 - i].qp->qp_num, path_from(i), options); });
    }
    connections_.push_back({ends_[0].qp, ends_[1].qp});
    return connections_.back();
  }

  /// The path from a node to the other one.
  rvt::rdma_ah_attr path_from(std::size_t node) {
    return path_between(system_.node(node).address(), system_.node(1 - node).address());
  }

  /// Takes all connections down.
  void disconnect() {
    for (const auto& connection : connections_) {
      for (std::size_t i = 0; i < 2; ++i) {
        system_.run_task(i, [&, i] { EXPECT_EQ(rvt::ib_destroy_qp(connection[i]), 0); });
      }
    }
    connections_.clear();
    monitor::expect_clean(rules_);
  }

  /// Lets the simulation run until nothing is left to do and every write can be seen.
  void settle() {
    system_.run_until(hw::kNever);
    const hw::Time later = system_.now() + 10 * hw::kMicrosecond;
    for (std::size_t i = 0; i < 2; ++i) {
      system_.run_task(i, [&, i] { system_.node(i).host().tasks().sleep_until(later); });
    }
  }

  /// All completions of a node so far.
  std::vector<rvt::ib_wc> poll(std::size_t node) {
    std::vector<rvt::ib_wc> all;
    rvt::ib_wc wc;
    while (rvt::ib_poll_cq(ends_[node].cq, 1, &wc) == 1) all.push_back(wc);
    return all;
  }

  void write(std::size_t node, std::uint64_t offset, const void* from, std::uint64_t bytes) {
    system_.node(node).host().cpu().write(ends_[node].memory + offset, from, bytes);
  }
  void read(std::size_t node, std::uint64_t offset, void* to, std::uint64_t bytes) {
    system_.node(node).host().cpu().read(ends_[node].memory + offset, to, bytes);
  }

 private:
  void create(std::size_t i, const PairOptions& options) {
    rvt::ib_qp_init_attr init;
    init.send_cq = init.recv_cq = ends_[i].cq;
    init.cap.max_send_wr = init.cap.max_recv_wr = options.max_wr;
    init.cap.max_send_sge = init.cap.max_recv_sge = options.max_sge;
    init.cap.max_inline_data = options.max_inline;
    init.qp_type = options.type;
    ends_[i].qp = rvt::ib_create_qp(ends_[i].pd, &init);
    ASSERT_FALSE(rvt::IS_ERR(ends_[i].qp));
    to_init(ends_[i].qp);
  }

  monitor::ProtocolMonitor rules_;
  sim::System system_;
  std::array<Endpoint, 2> ends_;
  std::vector<std::array<rvt::ib_qp*, 2>> connections_;
};

}  // namespace hcasim::support
