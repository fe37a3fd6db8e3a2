// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Completion queues of a trace.
#include "sim/replay/device_limits.hpp"
#include "sim/replay/node_objects.hpp"

namespace hcasim::sim {

ControlResult NodeObjects::make_cq(NameId name, std::uint32_t cqe, std::uint32_t vector) {
  rvt::ib_cq_init_attr attr;
  attr.cqe = cqe;
  attr.comp_vector = static_cast<int>(vector);
  rvt::ib_cq* cq =
      rvt::ib_create_cq(rvt::rvt_ib_device(node_.device()), nullptr, nullptr, nullptr, &attr);
  if (rvt::IS_ERR(cq)) {
    const std::string size = beyond_limits(attr, rvt::rvt_ib_device(node_.device())->attrs);
    return {rvt::PTR_ERR(cq), "create_cq", size.empty() ? no_more_cqs(*node_.device()) : size};
  }
  place(cqs_, name, &cq_store_.emplace_back(TraceCq{cq}));
  listener_->cq_created(name, cq_store_.back());
  return {0, "create_cq"};
}

ControlResult NodeObjects::create_cq(const Operation& operation) {
  const auto number = [&](Arg arg) { return static_cast<std::uint32_t>(operation.value(arg)); };
  ControlResult made = make_cq(operation.object, number(Arg::kCqe), number(Arg::kVector));
  const bool moderated = operation.has(Arg::kCqCount) || operation.has(Arg::kCqPeriod);
  return made.error != 0 || !moderated ? made : moderate_cq(operation);
}

ControlResult NodeObjects::moderate_cq(const Operation& operation) {
  const auto count = static_cast<std::uint16_t>(operation.value(Arg::kCqCount));
  const auto period = static_cast<std::uint16_t>(operation.value(Arg::kCqPeriod));
  return {rvt::rdma_set_cq_moderation(cq(operation.object)->cq, count, period), "modify_cq"};
}

ControlResult NodeObjects::resize_cq(const Operation& operation) {
  rvt::ib_cq* resized = cq(operation.object)->cq;
  rvt::ib_cq_init_attr attr;
  attr.cqe = static_cast<std::uint32_t>(operation.value(Arg::kCqe));
  const int error = rvt::ib_resize_cq(resized, static_cast<int>(attr.cqe));
  if (error == 0) return {0, "resize_cq"};
  return {error, "resize_cq", beyond_limits(attr, resized->device->attrs)};
}

int NodeObjects::req_notify_cq(const Operation& operation) {
  std::uint32_t flags = operation.flag(kSolicited) ? rvt::IB_CQ_SOLICITED : rvt::IB_CQ_NEXT_COMP;
  if (operation.flag(kMissedEvents)) flags |= rvt::IB_CQ_REPORT_MISSED_EVENTS;
  const int answer = rvt::ib_req_notify_cq(cq(operation.object)->cq, flags);
  return answer < 0 ? answer : 0;
}

}  // namespace hcasim::sim
