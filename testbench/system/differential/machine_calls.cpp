// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Events and notifications, what they are armed by, and new sizes.
#include <algorithm>

#include "machine.hpp"

namespace hcasim::differential {

using namespace rvt;

void Machine::on_event(ib_event* event, void* machine) {
  auto* self = static_cast<Machine*>(machine);
  std::size_t about = 0;
  if (event->event == IB_EVENT_CQ_ERR) {
    about = self->index_of(event->element.cq);
  } else if (event->event != IB_EVENT_SRQ_LIMIT_REACHED && event->event != IB_EVENT_SRQ_ERR) {
    about = self->slot_of(event->element.qp);
  }
  ++self->calls_[{event->event, about}];
}

void Machine::on_notification(ib_cq* cq, void* machine) {
  auto* self = static_cast<Machine*>(machine);
  ++self->calls_[{kNotification, self->index_of(cq)}];
}

std::size_t Machine::index_of(const ib_cq* cq) const {
  return static_cast<std::size_t>(std::find(cqs_.begin(), cqs_.end(), cq) - cqs_.begin());
}

int Machine::arm(std::size_t cq, bool solicited, bool report_missed) {
  const std::uint32_t flags = solicited ? IB_CQ_SOLICITED : IB_CQ_NEXT_COMP;
  return ib_req_notify_cq(cqs_[cq],
                          flags | (report_missed ? std::uint32_t{IB_CQ_REPORT_MISSED_EVENTS} : 0u));
}

int Machine::set_limit(std::uint32_t limit) {
  ib_srq_attr attr;
  attr.srq_limit = limit;
  return modify_srq(attr, IB_SRQ_LIMIT);
}

int Machine::resize_srq(std::uint32_t slots) {
  ib_srq_attr attr;
  attr.max_wr = slots;
  return modify_srq(attr, IB_SRQ_MAX_WR);
}

int Machine::modify_srq(const ib_srq_attr& attr, std::uint32_t mask) {
  int result = 0;
  run(1, [&] { result = ib_modify_srq(srq_, &attr, mask); });
  return result;
}

int Machine::resize_cq(std::size_t cq, std::uint32_t entries) {
  int result = 0;
  const std::size_t node = cq == kSharedCq ? 1 : cq / 2;
  run(node, [&] { result = ib_resize_cq(cqs_[cq], static_cast<int>(entries)); });
  return result;
}

std::uint32_t Machine::limit() {
  ib_srq_attr attr;
  ib_query_srq(srq_, &attr);
  return attr.srq_limit;
}

}  // namespace hcasim::differential
