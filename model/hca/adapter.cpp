// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/adapter.hpp"

#include <utility>

#include "hca/atomic_unit.hpp"
#include "hca/command_unit.hpp"
#include "hca/completion_unit.hpp"
#include "hca/departures.hpp"
#include "hca/doorbell_unit.hpp"
#include "hca/event_moderation.hpp"
#include "hca/event_unit.hpp"
#include "hca/local_operations.hpp"
#include "hca/loopback.hpp"
#include "hca/mr_control.hpp"
#include "hca/qp_control.hpp"
#include "hca/receive_queue_port.hpp"
#include "hca/requester.hpp"
#include "hca/responder.hpp"
#include "hca/response_handler.hpp"
#include "hca/response_unit.hpp"
#include "hca/send_scheduler.hpp"
#include "hca/srq_control.hpp"
#include "hca/wqe_fetch.hpp"
#include "hcasim/hw/bar.hpp"

namespace hcasim::hca {

// In the order of their ranks.
struct Adapter::Units {
  Units(Core& core, std::unique_ptr<ReceiveQueueUnit> unit)
      : doorbell(core),
        wqe_fetch(core),
        scheduler(core),
        requester(core),
        response_handler(core),
        responder(core),
        receive_queue(core, std::move(unit)),
        atomic(core),
        local(core),
        response(core),
        completion(core),
        moderation(core),
        event(core),
        qp_control(core),
        srq_control(core),
        command(core),
        departures(core),
        loopback(core),
        mr_control(core) {}

  DoorbellUnit doorbell;
  WqeFetch wqe_fetch;
  SendScheduler scheduler;
  Requester requester;
  ResponseHandler response_handler;
  Responder responder;
  ReceiveQueuePort receive_queue;
  AtomicUnit atomic;
  LocalOperations local;
  ResponseUnit response;
  CompletionUnit completion;
  EventModeration moderation;
  EventUnit event;
  QpControl qp_control;
  SrqControl srq_control;
  CommandUnit command;
  Departures departures;
  Loopback loopback;
  MrControl mr_control;
};

Adapter::Adapter(sim::Engine& engine, const Parameters& parameters, pcie::DmaPort& dma,
                 fabric::PacketPool& packets, std::unique_ptr<ReceiveQueueUnit> unit)
    : core_(new Core{engine, parameters, CoreClock(parameters.core_clock_mhz), dma, packets}) {
  units_ = std::make_unique<Units>(*core_, std::move(unit));
  core_->doorbell = &units_->doorbell;
  core_->wqe_fetch = &units_->wqe_fetch;
  core_->scheduler = &units_->scheduler;
  core_->requester = &units_->requester;
  core_->response_handler = &units_->response_handler;
  core_->responder = &units_->responder;
  core_->receive_queue = &units_->receive_queue;
  core_->atomic = &units_->atomic;
  core_->local = &units_->local;
  core_->response = &units_->response;
  core_->completion = &units_->completion;
  core_->moderation = &units_->moderation;
  core_->event = &units_->event;
  core_->qp_control = &units_->qp_control;
  core_->srq_control = &units_->srq_control;
  core_->command = &units_->command;
  core_->departures = &units_->departures;
  core_->loopback = &units_->loopback;
  core_->mr_control = &units_->mr_control;
  units_->qp_control.set_listener(units_->command);
  units_->srq_control.set_listener(units_->command);
  units_->mr_control.set_listener(units_->command);
}

Adapter::~Adapter() = default;

hw::rq::Parameters Adapter::receive_queue_parameters(const Parameters& parameters) {
  hw::rq::Parameters unit;
  unit.queues = parameters.device.max_qp + parameters.device.max_srq;
  unit.takes = parameters.receive_queue.takes;
  unit.prefetch = parameters.receive_queue.prefetch_wqes;
  unit.tags = parameters.receive_queue.tags;
  unit.fetch_bytes = parameters.receive_queue.fetch_bytes;
  unit.lines = parameters.receive_queue.lines;
  return unit;
}

void Adapter::set_bar_host(pcie::BarHost& host) {
  units_->doorbell.set_host(host);
}

void Adapter::set_port(fabric::PacketPort& port, hw::Time buffered, std::uint32_t index) {
  core_->ports[index] = {&port, buffered};
  port.set_listener(units_->departures.listener(index));
}

fabric::PacketSink& Adapter::packet_sink(std::uint32_t index) {
  return units_->responder.sink(index);
}

void Adapter::link_changed(std::uint32_t index, bool up) {
  core_->ports[index].active = up;
  units_->event.link_changed(index + 1, up);
}

void Adapter::set_observer(MessageObserver* observer) {
  core_->observer = observer;
}

void Adapter::set_transport_observer(TransportObserver* observer) {
  core_->transport_observer = observer;
}

void Adapter::set_timer_observer(TimerObserver* observer) {
  core_->timer_observer = observer;
}

bool Adapter::bar_write(std::uint64_t offset, const void* data, std::uint32_t bytes) {
  if (bytes != sizeof(std::uint64_t)) return burst_write(offset, data, bytes);
  const auto value = hw::load<std::uint64_t>(data);
  if (offset >= hw::bar::kUarBase) return units_->doorbell.write(offset, value);
  write_register(offset, value);
  return true;
}

// Beside doorbells there is one thing that a unit takes.
bool Adapter::burst_write(std::uint64_t offset, const void* data, std::uint32_t bytes) {
  const bool blue_flame = offset >= hw::bar::kUarBase && bytes % hw::bar::kBlueFlameLine == 0 &&
                          offset % hw::bar::kUarBytes == hw::bar::kBlueFlame;
  if (!blue_flame) return true;
  return units_->doorbell.write_burst(offset, static_cast<const std::uint8_t*>(data), bytes);
}

bool Adapter::bar_write_ahead(std::uint64_t offset, const void* data, std::uint32_t bytes,
                              hw::Time arrival) {
  if (bytes != sizeof(std::uint64_t) || offset < hw::bar::kUarBase) return false;
  return units_->doorbell.write_ahead(offset, hw::load<std::uint64_t>(data), arrival);
}

void Adapter::write_register(std::uint64_t offset, std::uint64_t value) {
  switch (offset) {
    case hw::bar::kCommand:
      return units_->command.start(value);
    case hw::bar::kIcmBase:
      return core_->caches.set_area(value);
    case hw::bar::kEqBase:
      eq_base_ = value;
      return;
    case hw::bar::kEqSize:
      units_->event.create(0, eq_base_, static_cast<std::uint32_t>(value));
      return;
    default:
      return;
  }
}

std::uint64_t Adapter::bar_read(std::uint64_t offset) {
  return offset == hw::bar::kDeviceId ? hw::bar::kDeviceIdValue : 0;
}

}  // namespace hcasim::hca
