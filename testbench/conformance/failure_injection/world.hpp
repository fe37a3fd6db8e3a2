// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "conformance/failure_injection/failing_host.hpp"
#include "driver/command.hpp"
#include "driver/event_queue.hpp"
#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {

using testing_support::FailingHost;
using testing_support::FailingMemory;
using testing_support::OwnMemory;

/// What must be as it was after a verb that failed, by name.
using Books = std::map<std::string, std::int64_t>;

/// A device and at most one or two objects of each kind, which are freed at the end. What is null
/// has not been made. Nothing here allocates between the calls of a verb.
class World {
 public:
  explicit World(bool registered = true) {
    params.max_pd = 3;
    device = rvt_alloc_device(host, params);
    rvt_set_event_handler(
        device.get(),
        [](ib_event* event, void* self) {
          if (event->event == IB_EVENT_DEVICE_FATAL) ++static_cast<World*>(self)->fatal;
        },
        this);
    if (!registered) return;
    EXPECT_EQ(rvt_register_device(device.get()), 0);
    EXPECT_EQ(make_pd(pd), 0);
    EXPECT_EQ(make_cq(cq), 0);
  }
  ~World() { EXPECT_EQ(end(), 0u); }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Frees all. @return blocks of host memory that are left
  std::size_t end() {
    host.settle();
    const auto finish = [](auto*& object, auto&& destroy) {
      if (object != nullptr) {
        EXPECT_EQ(destroy(object), 0);
      }
    };
    for (ib_qp** each : {&qp, &peer}) {
      finish(*each, [&](ib_qp*& it) {
        if (it->usecnt != 0) ib_detach_mcast(it, &kGroup, 0);
        return destroy_qp(it);
      });
    }
    finish(ah, [&](ib_ah*&) { return destroy_ah(); });
    finish(srq, [&](ib_srq*&) { return destroy_srq(); });
    finish(mr, [&](ib_mr*&) { return dereg(); });
    for (ib_cq** each : {&other_cq, &cq}) finish(*each, [&](ib_cq*& it) { return destroy_cq(it); });
    for (ib_pd** each : {&other_pd, &pd}) finish(*each, [&](ib_pd*& it) { return dealloc_pd(it); });
    const bool lost = device && lost_mailbox;
    device.reset();
    return host.blocks_allocated() - (lost ? 1 : 0);
  }

  // --- Verbs: 0 or an errno ---------------------------------------------------------------------

  template <typename T>
  static int take(T* made, T*& slot) {
    if (IS_ERR(made)) return static_cast<int>(PTR_ERR(made));
    slot = made;
    return 0;
  }
  int make_pd(ib_pd*& slot) { return take(ib_alloc_pd(rvt_ib_device(device.get())), slot); }
  int make_cq(ib_cq*& slot) {
    ib_cq_init_attr attr;
    attr.cqe = kCqe;
    return take(ib_create_cq(rvt_ib_device(device.get()), nullptr, Seen::event, &cq_seen, &attr),
                slot);
  }
  int make_srq() {
    ib_srq_init_attr attr;
    attr.attr = {4, 2, 0};
    return take(ib_create_srq(pd, &attr), srq);
  }
  int reg_mr() {
    return take(ib_reg_user_mr(pd, kAddress, 8192, kAddress, IB_ACCESS_LOCAL_WRITE), mr);
  }
  int alloc_mr() { return take(ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 4), mr); }
  int map_mr() {
    const scatterlist page{kAddress, 4096};
    return ib_map_mr_sg(mr, &page, 1, nullptr, 4096) == 1 ? 0 : -EINVAL;
  }
  int make_ah() {
    rdma_ah_attr attr;
    attr.port_num = 1;
    return take(rdma_create_ah(pd, &attr), ah);
  }
  int make_qp(ib_qp_type type, ib_qp*& slot) {
    ib_qp_init_attr attr;
    attr.qp_type = type;
    attr.port_num = 1;
    attr.send_cq = attr.recv_cq = cq;
    attr.srq = srq;
    attr.cap = {4, 4, 2, 2, 64};
    return take(ib_create_qp(pd, &attr), slot);
  }
  /// The move with what it has to carry; to RTR of itself if `home`.
  int move(ib_qp_state to, bool home = false) { return move(qp, to, home); }
  static int move(ib_qp* of, ib_qp_state to, bool home = false) {
    ib_qp_attr attr = path();
    attr.qp_state = to;
    if (home) attr.ah_attr.grh.sgid.raw[15] = attr.ah_attr.grh.dgid.raw[15] = 1;
    return ib_modify_qp(of, &attr, mask_of(of->qp_type, to));
  }
  int modify(ib_qp_state to, int mask) {
    ib_qp_attr attr = path();
    attr.qp_state = to;
    return ib_modify_qp(qp, &attr, mask);
  }
  int modify_srq(std::uint32_t mask, std::uint32_t max_wr, std::uint32_t limit) {
    const ib_srq_attr attr{max_wr, 0, limit};
    return ib_modify_srq(srq, &attr, mask);
  }
  int attach(ib_qp* of) { return ib_attach_mcast(of, &kGroup, 0); }
  int detach() { return ib_detach_mcast(qp, &kGroup, 0); }
  int query_port() {
    ib_port_attr attr;
    return ib_query_port(rvt_ib_device(device.get()), 1, &attr);
  }
  template <typename T>
  static int gone(int error, T*& slot) {
    if (error == 0) slot = nullptr;
    return error;
  }
  int destroy_qp(ib_qp*& of) { return gone(ib_destroy_qp(of), of); }
  int destroy_cq(ib_cq*& of) { return gone(ib_destroy_cq(of), of); }
  int dealloc_pd(ib_pd*& of) { return gone(ib_dealloc_pd(of), of); }
  int destroy_srq() { return gone(ib_destroy_srq(srq), srq); }
  int destroy_ah() { return gone(rdma_destroy_ah(ah), ah); }
  int dereg() { return gone(ib_dereg_mr(mr), mr); }

  /// Leads the queue pair from RESET to `state`.
  void bring(ib_qp_state state) {
    for (const ib_qp_state next : {IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS}) {
      if (state == IB_QPS_RESET) return;
      EXPECT_EQ(move(next), 0);
      if (state == next) return;
    }
    if (state == IB_QPS_SQE) {
      host.event(0, hw::EqeType::kQpSendError, qp->qp_num);
    } else {
      EXPECT_EQ(move(state), 0);
    }
  }

  Books books() const;

  static constexpr unsigned kCqe = 8;
  static constexpr std::uint64_t kAddress = 0x10'0000;
  static constexpr ib_gid kGroup{{0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7}};

  FailingHost host;
  rvt_driver_params params;
  rvt_device_ptr device;
  ib_pd* pd = nullptr;
  ib_pd* other_pd = nullptr;
  ib_cq* cq = nullptr;
  ib_cq* other_cq = nullptr;
  ib_mr* mr = nullptr;
  ib_srq* srq = nullptr;
  ib_ah* ah = nullptr;
  ib_qp* qp = nullptr;
  ib_qp* peer = nullptr;
  Seen cq_seen;
  int fatal = 0;              ///< IB_EVENT_DEVICE_FATAL so far
  bool lost_mailbox = false;  ///< a command was not answered, so its memory stays with the adapter

 private:
  static ib_qp_attr path();
  void count_tables(Books& books) const;
  void count_objects(Books& books) const;
};

}  // namespace hcasim::rvt
