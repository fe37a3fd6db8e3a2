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
#include "support/protocol_monitor/driver_qp.hpp"
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

/// How a pair of queue pairs is to be made.
struct PairOptions {
  rvt::ib_qp_type type = rvt::IB_QPT_RC;  ///< or UC; or UD, whose sends name their peer themselves
  rvt::ib_mtu mtu = rvt::IB_MTU_1024;
  std::uint32_t max_wr = 64;
  std::uint32_t max_sge = 8;
  std::uint32_t max_inline = 64;
  std::uint32_t sq_psn = 0;
  std::uint8_t timeout = 14;
  std::uint8_t retry_cnt = 7;
  std::uint8_t rnr_retry = 7;
  std::uint8_t min_rnr_timer = 12;
};

/// Two nodes whose drivers run, each with a protection domain, a completion queue and a region; and
/// connections between them made and destroyed at will. Both ends are held against the
/// rules of the transport.
class ConnectedPair {
 public:
  static constexpr std::uint32_t kQkey = 0x1111'1111;  ///< of UD

  /// `settings` are keys of the configuration with their values.
  explicit ConnectedPair(std::uint64_t memory_bytes, std::uint64_t seed = 1,
                         const std::vector<std::string>& settings = {},
                         const monitor::MonitorOptions& strictness = {})
      : rules_(strictness),
        system_(sim::load_config({.settings = settings}), {{"a", "b"}, seed, true}) {
    EXPECT_EQ(system_.start_devices(), 0);
    for (std::size_t i = 0; i < 2; ++i) {
      system_.node(i).adapter().port().port().set_observer(&rules_.add_port(), true);
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
      system_.node(i).adapter().port().port().set_observer(nullptr);
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
      system_.run_task(i, [&, i] { bring_up(i, options); });
      rules_.add(static_cast<std::uint32_t>(i), monitor::monitored(ends_[i].qp, options.sq_psn));
    }
    connections_.push_back({ends_[0].qp, ends_[1].qp});
    return connections_.back();
  }

  /// The path from a node to the other one.
  rvt::rdma_ah_attr path_from(std::size_t node) {
    rvt::rdma_ah_attr path;
    path.grh.sgid = system_.node(node).address().gid;
    path.grh.dgid = system_.node(1 - node).address().gid;
    path.roce.smac = system_.node(node).address().mac;
    path.roce.dmac = system_.node(1 - node).address().mac;
    return path;
  }

  /// Takes all connections down.
  void disconnect() {
    for (const auto& connection : connections_) {
      for (std::size_t i = 0; i < 2; ++i) {
        const std::uint32_t qpn = connection[i]->qp_num;
        system_.run_task(i, [&, i] { EXPECT_EQ(rvt::ib_destroy_qp(connection[i]), 0); });
        rules_.remove(static_cast<std::uint32_t>(i), qpn);
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
    rvt::ib_qp_attr attr;
    attr.qp_state = rvt::IB_QPS_INIT;
    attr.port_num = 1;
    attr.qp_access_flags =
        rvt::IB_ACCESS_REMOTE_WRITE | rvt::IB_ACCESS_REMOTE_READ | rvt::IB_ACCESS_REMOTE_ATOMIC;
    attr.qkey = kQkey;
    const int own = options.type == rvt::IB_QPT_UD ? rvt::IB_QP_QKEY : rvt::IB_QP_ACCESS_FLAGS;
    ASSERT_EQ(rvt::ib_modify_qp(ends_[i].qp, &attr,
                                rvt::IB_QP_STATE | rvt::IB_QP_PKEY_INDEX | rvt::IB_QP_PORT | own),
              0);
  }

  void bring_up(std::size_t i, const PairOptions& options) {
    rvt::ib_qp_attr attr;
    attr.qp_state = rvt::IB_QPS_RTR;
    attr.path_mtu = options.mtu;
    attr.dest_qp_num = ends_[1 - i].qp->qp_num;
    attr.rq_psn = options.sq_psn;
    attr.max_dest_rd_atomic = 16;
    attr.min_rnr_timer = options.min_rnr_timer;
    attr.ah_attr = path_from(i);
    const bool reliable = options.type == rvt::IB_QPT_RC;
    int mask = rvt::IB_QP_STATE;
    if (options.type != rvt::IB_QPT_UD) {
      mask |= rvt::IB_QP_AV | rvt::IB_QP_PATH_MTU | rvt::IB_QP_DEST_QPN | rvt::IB_QP_RQ_PSN;
    }
    if (reliable) mask |= rvt::IB_QP_MAX_DEST_RD_ATOMIC | rvt::IB_QP_MIN_RNR_TIMER;
    ASSERT_EQ(rvt::ib_modify_qp(ends_[i].qp, &attr, mask), 0);
    attr.qp_state = rvt::IB_QPS_RTS;
    attr.sq_psn = options.sq_psn;
    attr.timeout = options.timeout;
    attr.retry_cnt = options.retry_cnt;
    attr.rnr_retry = options.rnr_retry;
    attr.max_rd_atomic = 16;
    mask = rvt::IB_QP_STATE | rvt::IB_QP_SQ_PSN;
    if (reliable) {
      mask |= rvt::IB_QP_TIMEOUT | rvt::IB_QP_RETRY_CNT | rvt::IB_QP_RNR_RETRY |
              rvt::IB_QP_MAX_QP_RD_ATOMIC;
    }
    ASSERT_EQ(rvt::ib_modify_qp(ends_[i].qp, &attr, mask), 0);
  }

  monitor::ProtocolMonitor rules_;
  sim::System system_;
  std::array<Endpoint, 2> ends_;
  std::vector<std::array<rvt::ib_qp*, 2>> connections_;
};

}  // namespace hcasim::support
