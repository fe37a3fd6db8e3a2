// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// The end of objects, one by one and all together.
#include <algorithm>
#include <deque>
#include <utility>

#include "sim/replay/node_objects.hpp"

namespace hcasim::sim {

// A task that was stopped in the middle of a verb holds its object for ever, which stays, and with
// it what it may refer to.
NodeObjects::~NodeObjects() {
  if (pd_ == nullptr && cqs_.empty()) return;
  rvt::rvt_unregister_device(node_.device());
  if (in_use()) {
    leave_behind();
  } else {
    tear_down();
  }
}

// Never freed, but known, so that whoever looks for leaks sees that it is meant to be there.
void NodeObjects::leave_behind() {
  struct Left {
    std::deque<TraceQp> qps;
    std::deque<SrqPlace> srqs;
    std::deque<TraceCq> cqs;
    std::deque<TraceMr> mrs;
  };
  static auto* const left = new std::deque<Left>;
  left->push_back(
      {std::move(qp_store_), std::move(srq_store_), std::move(cq_store_), std::move(mr_store_)});
}

bool NodeObjects::in_use() const {
  const auto qp_held = [](const TraceQp* it) {
    return it != nullptr && rvt::ibqp_to_rvtqp(it->qp)->mutex.held();
  };
  const auto srq_held = [](const TraceSrq* it) {
    return it != nullptr && rvt::ibsrq_to_rvtsrq(it->srq)->mutex.held();
  };
  return std::ranges::any_of(qps_, qp_held) || std::ranges::any_of(srqs_, srq_held);
}

int NodeObjects::dereg(const Operation& operation) {
  TraceMr& it = *mr(operation.object);
  const int error = rvt::ib_dereg_mr(it.mr);
  if (error == 0) it.mr = nullptr;
  return error;
}

int NodeObjects::destroy_cq(const Operation& operation) {
  const int error = rvt::ib_destroy_cq(cq(operation.object)->cq);
  if (error != 0) return error;
  listener_->cq_destroyed(operation.object);
  cqs_[operation.object] = nullptr;
  return 0;
}

int NodeObjects::destroy_qp(const Operation& operation) {
  const TraceQp& gone = *qp(operation.object);
  const int error = rvt::ib_destroy_qp(gone.qp);
  if (error != 0) return error;
  listener_->qp_destroyed(operation.object, gone);
  qps_[operation.object] = nullptr;
  return 0;
}

void NodeObjects::tear_down() {
  detach_all();
  for (TraceQp* it : qps_) {
    if (it != nullptr) rvt::ib_destroy_qp(it->qp);
  }
  for (TraceSrq* it : srqs_) {
    if (it != nullptr) rvt::ib_destroy_srq(it->srq);
  }
  for (const TraceQp& it : qp_store_) {
    if (it.ah != nullptr) rvt::rdma_destroy_ah(it.ah);
  }
  for (TraceCq* it : cqs_) {
    if (it != nullptr) rvt::ib_destroy_cq(it->cq);
  }
  for (TraceMr& it : mr_store_) {
    if (it.mr != nullptr) rvt::ib_dereg_mr(it.mr);
  }
  if (pd_ != nullptr) rvt::ib_dealloc_pd(pd_);
  pd_ = nullptr;
  cqs_.clear();
}

}  // namespace hcasim::sim
