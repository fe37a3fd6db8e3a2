// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Shared receive queues of a trace.
#include "sim/replay/device_limits.hpp"
#include "sim/replay/node_objects.hpp"

namespace hcasim::sim {

void NodeObjects::on_srq_event(rvt::ib_event* event, void* place) {
  const auto* const it = static_cast<const SrqPlace*>(place);
  if (event->event != rvt::IB_EVENT_SRQ_LIMIT_REACHED) return;
  it->owner->listener_->srq_limit_reached(it->name);
}

ControlResult NodeObjects::create_srq(const Operation& operation) {
  SrqPlace& it = srq_store_.emplace_back();
  it.owner = this;
  it.name = operation.object;
  rvt::ib_srq_init_attr init;
  init.event_handler = on_srq_event;
  init.srq_context = &it;
  init.attr.max_wr = static_cast<std::uint32_t>(operation.value(Arg::kMaxWr));
  init.attr.max_sge = static_cast<std::uint32_t>(operation.value(Arg::kMaxSge));
  rvt::ib_srq* const made = rvt::ib_create_srq(pd(), &init);
  if (rvt::IS_ERR(made)) {
    const std::string size = beyond_limits(init.attr, pd()->device->attrs);
    return {rvt::PTR_ERR(made), "create_srq", size.empty() ? no_more_srqs(*node_.device()) : size};
  }
  it.srq = {made, init.attr.max_wr};
  place(srqs_, it.name, &it.srq);
  listener_->srq_created(it.name, it.srq);
  // At its creation the limit is not looked at.
  rvt::ib_srq_attr attr;
  attr.srq_limit = static_cast<std::uint32_t>(operation.value(Arg::kSrqLimit));
  if (attr.srq_limit == 0) return {};
  return {rvt::ib_modify_srq(made, &attr, rvt::IB_SRQ_LIMIT), "modify_srq"};
}

ControlResult NodeObjects::modify_srq(const Operation& operation) {
  TraceSrq& it = *srq(operation.object);
  rvt::ib_srq_attr attr;
  attr.max_wr = static_cast<std::uint32_t>(operation.value(Arg::kMaxWr));
  attr.srq_limit = static_cast<std::uint32_t>(operation.value(Arg::kSrqLimit));
  const bool resized = operation.has(Arg::kMaxWr);
  const std::uint32_t mask = (resized ? rvt::IB_SRQ_MAX_WR : 0u) |
                             (operation.has(Arg::kSrqLimit) ? rvt::IB_SRQ_LIMIT : 0u);
  const int error = rvt::ib_modify_srq(it.srq, &attr, mask);
  if (error == 0 && resized) {
    it.max_wr = attr.max_wr;
    listener_->srq_resized(operation.object, it);
  }
  return {error, "modify_srq", beyond_limits(attr, pd()->device->attrs)};
}

int NodeObjects::destroy_srq(const Operation& operation) {
  const int error = rvt::ib_destroy_srq(srq(operation.object)->srq);
  if (error != 0) return error;
  listener_->srq_destroyed(operation.object);
  srqs_[operation.object] = nullptr;
  return 0;
}

}  // namespace hcasim::sim
