// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "support/call_from/data_verbs.hpp"
#include "support/call_from/system_entrance.hpp"
#include "support/connected_pair.hpp"

/// Cases that are seen best through the verbs of two whole nodes: driver, adapter and wire.
namespace hcasim::verbs {

using namespace rvt;  // the verbs, by their own names
using support::PairOptions;
using Ids = std::vector<std::uint64_t>;
using Statuses = std::vector<ib_wc_status>;

inline Ids ids(const std::vector<ib_wc>& completions) {
  Ids found;
  for (const ib_wc& wc : completions) found.push_back(wc.wr_id);
  return found;
}
inline Statuses statuses(const std::vector<ib_wc>& completions) {
  Statuses found;
  for (const ib_wc& wc : completions) found.push_back(wc.status);
  return found;
}

/// A send in the words of a test; its data lies at `offset` of node 0's memory, the remote place at
/// `remote` of node 1's.
struct Work {
  ib_wr_opcode opcode = IB_WR_SEND;
  std::uint32_t bytes = 16;
  std::uint64_t wr_id = 0;
  std::uint32_t flags = IB_SEND_SIGNALED;
  std::uint64_t offset = 0;
  std::uint64_t remote = 0;
  std::uint32_t key_error = 0;   ///< added to the remote key
  std::uint32_t lkey_error = 0;  ///< added to the local one
};

/// Events of objects, in order.
struct Heard {
  std::vector<ib_event_type> events;
  static void on_event(ib_event* event, void* self) {
    static_cast<Heard*>(self)->events.push_back(event->event);
  }
};

class VerbsTest : public testing::Test, protected support::DataVerbs {
 protected:
  static constexpr std::uint64_t kMemory = 1 << 20;   ///< bytes of each node's region
  static constexpr std::uint64_t kInbox = 64 * 1024;  ///< where receives lie in it
  static constexpr std::uint32_t kGrh = 40;           ///< bytes before a datagram

  explicit VerbsTest(const std::vector<std::string>& settings = {}) : pair_(kMemory, 1, settings) {}

  void TearDown() override {
    pair_.disconnect();
    for (std::size_t i = 0; i < 2; ++i) {
      task(i, [&, i] {
        for (ib_qp* qp : qps_[i]) EXPECT_EQ(ib_destroy_qp(qp), 0);
        for (ib_ah* ah : ahs_[i]) EXPECT_EQ(rdma_destroy_ah(ah), 0);
        for (ib_srq* srq : srqs_[i]) EXPECT_EQ(ib_destroy_srq(srq), 0);
        for (ib_cq* cq : cqs_[i]) EXPECT_EQ(ib_destroy_cq(cq), 0);
      });
    }
  }

  // --- Time

  /// Runs a task until nothing is left to do, and every write can be seen.
  void task(std::size_t node, std::function<void()> body) {
    pair_.system().run_task(node, std::move(body));
    run(hw::kMicrosecond);
  }
  /// Runs tasks that begin together, for `duration`.
  void run(hw::Time duration, const std::vector<std::function<void()>>& of_node_1 = {}) {
    const hw::Time start = pair_.system().now();
    for (std::size_t i = 0; i < 2; ++i) {
      sim::Tasks& tasks = pair_.system().node(i).host().tasks();
      tasks.start([&tasks, start, duration] { tasks.sleep_until(start + duration); });
    }
    for (const auto& body : of_node_1) {
      sim::Tasks& tasks = pair_.system().node(1).host().tasks();
      tasks.start([&tasks, start, body] {
        tasks.sleep_until(start);
        body();
      });
    }
    pair_.system().run_until(start + duration + 1);
  }
  void sleep(std::size_t node, hw::Time duration) {
    host::HostModule& host = pair_.system().node(node).host();
    host.tasks().sleep_until(host.cpu().now() + duration);
  }

  // --- Objects

  ib_pd* pd(std::size_t node) { return pair_.end(node).pd; }
  ib_mr* mr(std::size_t node) { return pair_.end(node).mr; }
  ib_device* device(std::size_t node) { return rvt_ib_device(pair_.system().node(node).device()); }
  std::uint64_t at(std::size_t node, std::uint64_t offset) {
    return pair_.end(node).memory + offset;
  }
  ib_cq* make_cq(std::size_t node, unsigned cqe) {
    task(node, [&] {
      ib_cq_init_attr attr;
      attr.cqe = cqe;
      cqs_[node].push_back(
          ib_create_cq(device(node), nullptr, Heard::on_event, &heard_[node], &attr));
    });
    EXPECT_FALSE(IS_ERR(cqs_[node].back()));
    return cqs_[node].back();
  }
  ib_srq* make_srq(std::size_t node, std::uint32_t max_wr) {
    task(node, [&] {
      ib_srq_init_attr attr;
      attr.event_handler = Heard::on_event;
      attr.srq_context = &heard_[node];
      attr.attr = {max_wr, 1, 0};
      srqs_[node].push_back(ib_create_srq(pd(node), &attr));
    });
    EXPECT_FALSE(IS_ERR(srqs_[node].back()));
    return srqs_[node].back();
  }
  ib_qp_init_attr qp_attr(std::size_t node, ib_qp_type type = IB_QPT_RC) {
    ib_qp_init_attr attr;
    attr.event_handler = Heard::on_event;
    attr.qp_context = &heard_[node];
    attr.send_cq = attr.recv_cq = pair_.end(node).cq;
    attr.cap = {64, 64, 4, 4, 64};
    attr.qp_type = type;
    return attr;
  }
  ib_qp* make_qp(std::size_t node, ib_qp_init_attr attr) {
    task(node, [&] {
      ib_qp* qp = ib_create_qp(pd(node), &attr);
      ASSERT_FALSE(IS_ERR(qp));
      support::to_init(qp);
      qps_[node].push_back(qp);
    });
    return qps_[node].back();
  }
  void to_rts(std::size_t node, ib_qp* qp, const ib_qp* peer, const rdma_ah_attr& path,
              const PairOptions& options) {
    task(node, [&] { support::to_rts(qp, peer->qp_num, path, options); });
  }
  /// Connects queue pairs of node 0 and node 1.
  void join(ib_qp* first, ib_qp* second, const PairOptions& options = {}) {
    to_rts(0, first, second, pair_.path_from(0), options);
    to_rts(1, second, first, pair_.path_from(1), options);
  }
  /// Two connected queue pairs whose events are heard.
  std::array<ib_qp*, 2> make_pair(const PairOptions& options = {}) {
    std::array<ib_qp*, 2> made{};
    for (std::size_t i = 0; i < 2; ++i) made[i] = make_qp(i, qp_attr(i, options.type));
    join(made[0], made[1], options);
    return made;
  }
  ib_ah* make_ah(std::size_t node) {
    const rdma_ah_attr path = pair_.path_from(node);
    ahs_[node].push_back(rdma_create_ah(pd(node), &path));
    return ahs_[node].back();
  }
  int modify(std::size_t node, ib_qp* qp, ib_qp_attr attr, int mask) {
    int error = 0;
    task(node, [&] { error = ib_modify_qp(qp, &attr, mask); });
    return error;
  }
  int to_state(std::size_t node, ib_qp* qp, ib_qp_state state) {
    ib_qp_attr attr;
    attr.qp_state = state;
    return modify(node, qp, attr, IB_QP_STATE);
  }
  ib_qp_state state_of(std::size_t node, ib_qp* qp) {
    ib_qp_attr attr;
    task(node, [&] {
      ib_qp_init_attr init;
      EXPECT_EQ(ib_query_qp(qp, &attr, 0, &init), 0);
    });
    return attr.qp_state;
  }

  // --- Work

  int post(ib_qp* qp, const Work& work, std::size_t node = 0, ib_ah* ah = nullptr,
           std::uint32_t remote_qpn = 0) {
    const std::size_t peer = remote_node(node);
    const ib_sge data{at(node, work.offset), work.bytes, mr(node)->lkey + work.lkey_error};
    ib_rdma_wr rdma;
    ib_atomic_wr atomic;
    ib_ud_wr datagram;
    const bool is_atomic =
        work.opcode == IB_WR_ATOMIC_CMP_AND_SWP || work.opcode == IB_WR_ATOMIC_FETCH_AND_ADD;
    ib_send_wr& wr = ah != nullptr ? datagram.wr : is_atomic ? atomic.wr : rdma.wr;
    wr.wr_id = work.wr_id;
    wr.opcode = work.opcode;
    wr.sg_list = &data;
    wr.num_sge = work.bytes == 0 ? 0 : 1;
    wr.send_flags = work.flags;
    rdma.remote_addr = atomic.remote_addr = at(peer, work.remote);
    rdma.rkey = atomic.rkey = mr(peer)->rkey + work.key_error;
    atomic.compare_add = 1;
    datagram.ah = ah;
    datagram.remote_qpn = remote_qpn;
    datagram.remote_qkey = support::kQkey;
    return ib_post_send(qp, &wr, &bad_send_);
  }
  /// Receive `wr_id` has a place of its own, 64 bytes after that of the one before.
  int receive(ib_qp* qp, std::uint64_t wr_id, std::uint32_t bytes = 64, std::size_t node = 1) {
    const ib_sge data{at(node, place_of(wr_id)), bytes, mr(node)->lkey};
    ib_recv_wr wr;
    wr.wr_id = wr_id;
    wr.sg_list = &data;
    wr.num_sge = 1;
    return qp->srq == nullptr ? ib_post_recv(qp, &wr, nullptr)
                              : ib_post_srq_recv(qp->srq, &wr, nullptr);
  }
  static std::uint64_t place_of(std::uint64_t wr_id) {
    constexpr std::uint64_t kPlaces = 4096;
    return kInbox + wr_id % kPlaces * 128;
  }
  static std::vector<ib_wc> poll_queue(ib_cq* cq) {
    std::vector<ib_wc> all;
    ib_wc wc;
    while (ib_poll_cq(cq, 1, &wc) == 1) all.push_back(wc);
    return all;
  }
  std::vector<ib_wc> poll(std::size_t node) { return poll_queue(pair_.end(node).cq); }

  std::vector<std::uint8_t> read(std::size_t node, std::uint64_t offset, std::size_t bytes) {
    std::vector<std::uint8_t> data(bytes);
    pair_.read(node, offset, data.data(), bytes);
    return data;
  }
  void write(std::size_t node, std::uint64_t offset, const std::vector<std::uint8_t>& data) {
    pair_.write(node, offset, data.data(), data.size());
  }

  /// Where remote addresses of a node's requests lie; its own where both ends are one node's.
  virtual std::size_t remote_node(std::size_t node) { return 1 - node; }

  support::ConnectedPair pair_;
  support::SystemEntrance entrance_of_0_{pair_.system(), 0};
  support::SystemEntrance entrance_of_1_{pair_.system(), 1};
  std::array<Heard, 2> heard_;
  std::array<std::vector<ib_qp*>, 2> qps_;
  std::array<std::vector<ib_srq*>, 2> srqs_;
  std::array<std::vector<ib_cq*>, 2> cqs_;
  std::array<std::vector<ib_ah*>, 2> ahs_;
  const ib_send_wr* bad_send_ = nullptr;
};

/// Bytes of a test that are never 0.
inline std::vector<std::uint8_t> marks(std::size_t bytes, std::uint8_t first = 1) {
  std::vector<std::uint8_t> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::uint8_t>(first + i % 97);
  return data;
}

}  // namespace hcasim::verbs
