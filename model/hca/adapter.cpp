// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/adapter.hpp"

#include <algorithm>
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
        loopback(core) {}

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
  units_->qp_control.set_listener(units_->command);
  units_->srq_control.set_listener(units_->command);
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

void Adapter::set_port(fabric::PacketPort& port, hw::Time buffered) {
  core_->port = &port;
  core_->port_lead = buffered;
}

fabric::PacketSink& Adapter::packet_sink() {
  return units_->responder;
}

void Adapter::set_observer(MessageObserver* observer) {
  core_->observer = observer;
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

namespace {
struct CacheNames {
  const char* hit;
  const char* miss;
  const char* fetch;
};
void visit_cache(CounterVisitor& visitor, const CacheNames& names, const ContextCache& cache) {
  visitor.counter(names.hit, cache.counters().hit);
  visitor.counter(names.miss, cache.counters().miss);
  visitor.counter(names.fetch, cache.counters().fetches);
}
}  // namespace

void Adapter::visit_counters(CounterVisitor& v) const {
  const Units& u = *units_;
  v.unit("doorbell");
  v.counter("doorbells", u.doorbell.counters().doorbells);
  v.counter("merged", u.doorbell.counters().merged);
  v.counter("stalled", u.doorbell.counters().stalled);
  v.counter("bad", u.doorbell.counters().bad);
  v.counter("blue_flame", u.doorbell.counters().blue_flame);
  v.counter("blue_flame_ignored", u.doorbell.counters().blue_flame_ignored);
  v.unit("wqe_fetch");
  v.counter("fetches", u.wqe_fetch.counters().fetches);
  v.counter("wqes", u.wqe_fetch.counters().wqes);
  v.counter("discarded", u.wqe_fetch.counters().discarded);
  v.unit("requester");
  const Requester::Counters& requester = u.requester.counters();
  v.counter("packets", requester.packets);
  v.counter("messages", requester.messages);
  v.counter("n_rc_resends", requester.retransmitted_packets);
  v.counter("n_rc_crwaits", requester.credit_waits);
  const ResponseHandler::Counters& answers = u.response_handler.counters();
  v.counter("packet_seq_err", answers.packet_seq_err);
  v.counter("implied_nak_seq_err", answers.implied_nak_seq_err);
  v.counter("local_ack_timeout_err", answers.local_ack_timeout_err);
  v.counter("n_rnr_naks", answers.rnr_naks);
  v.counter("rnr_nak_retry_err", answers.rnr_nak_retry_err);
  v.counter("req_remote_invalid_request", answers.req_remote_invalid_request);
  v.counter("req_remote_access_errors", answers.req_remote_access_errors);
  v.counter("req_remote_op_errors", answers.req_remote_op_errors);
  v.counter("req_transport_retries_exceeded", answers.req_transport_retries_exceeded);
  v.counter("req_rnr_retries_exceeded", answers.req_rnr_retries_exceeded);
  v.counter("ghost_acks", answers.ghost_acks);
  v.unit("responder");
  const Responder::Counters& responder = u.responder.counters();
  v.counter("rx_send_requests", responder.rx_send_requests);
  v.counter("rx_write_requests", responder.rx_write_requests);
  v.counter("rx_read_requests", responder.rx_read_requests);
  v.counter("rx_atomic_requests", responder.rx_atomic_requests);
  v.counter("out_of_buffer", responder.out_of_buffer);
  v.counter("out_of_sequence", responder.out_of_sequence);
  v.counter("duplicate_request", responder.duplicate_request);
  v.counter("resp_local_length_error", responder.resp_local_length_error);
  v.counter("resp_local_qp_error", responder.resp_local_qp_error);
  v.counter("resp_remote_access_errors", responder.resp_remote_access_errors);
  v.counter("resp_remote_invalid_request", responder.resp_remote_invalid_request);
  v.counter("n_pkt_drops", responder.n_pkt_drops);
  v.counter("rx_buffer_full", responder.rx_buffer_full);
  v.counter("rx_discards_phy", responder.rx_discards_phy);
  v.counter("pkey_violations", responder.pkey_violations);
  v.counter("qkey_violations", responder.qkey_violations);
  v.unit("response");
  const ResponseUnit::Counters& response = u.response.counters();
  v.counter("acks", response.acks);
  v.counter("acks_merged", response.acks_merged);
  v.counter("naks", response.naks);
  v.counter("rnr_naks", response.rnr_naks);
  v.counter("read_response_packets", response.read_response_packets);
  v.counter("atomic_responses", response.atomic_responses);
  v.counter("atomic_replays", response.atomic_replays);
  units_->receive_queue.settle();
  v.unit("receive_queue");
  const ReceiveQueueCounters& queue = u.receive_queue.unit().counters();
  v.counter("takes_ok", queue.takes_ok);
  v.counter("takes_empty", queue.takes_empty);
  v.counter("takes_flushed", queue.takes_flushed);
  v.counter("takes_waited", queue.takes_waited);
  v.counter("doorbells", queue.doorbells);
  v.counter("dma_requests", queue.dma_requests);
  v.counter("wqes_fetched", queue.wqes_fetched);
  v.counter("wqes_evicted", queue.wqes_evicted);
  v.unit("completion");
  const CompletionUnit::Counters& completion = u.completion.counters();
  v.counter("cqes", completion.cqes);
  v.counter("cqe_error", completion.cqe_error);
  v.counter("req_cqe_error", completion.req_cqe_error);
  v.counter("resp_cqe_error", completion.resp_cqe_error);
  v.counter("req_cqe_flush_error", completion.req_cqe_flush_error);
  v.counter("resp_cqe_flush_error", completion.resp_cqe_flush_error);
  v.counter("cq_overflow", completion.cq_overflow);
  v.counter("consumer_reads", completion.consumer_reads);
  v.unit("context_cache");
  visit_cache(v, {"qpc_cache_hit", "qpc_cache_miss", "qpc_cache_fetch"}, core_->caches.qpc);
  v.counter("qpc_cache_writeback", core_->caches.qpc.counters().written);
  visit_cache(v, {"cqc_cache_hit", "cqc_cache_miss", "cqc_cache_fetch"}, core_->caches.cqc);
  v.counter("cqc_cache_writeback", core_->caches.cqc.counters().written);
  Translation& translation = core_->caches.translation;
  visit_cache(v, {"mpt_cache_hit", "mpt_cache_miss", "mpt_cache_fetch"}, translation.mpt());
  visit_cache(v, {"mtt_cache_hit", "mtt_cache_miss", "mtt_cache_fetch"}, translation.mtt());
  const std::uint64_t rwqe_misses = std::min(queue.takes_ok, queue.takes_waited);
  v.counter("rwqe_cache_hit", queue.takes_ok - rwqe_misses);
  v.counter("rwqe_cache_miss", rwqe_misses);
  v.unit("event");
  v.counter("events", u.event.counters().events);
  v.counter("held", u.moderation.counters().held);
  v.counter("expired", u.moderation.counters().expired);
  v.counter("interrupts", u.event.counters().interrupts);
  v.counter("lost", u.event.counters().lost);
  v.unit("command");
  v.counter("commands", u.command.counters().commands);
  v.counter("failed", u.command.counters().failed);
}

void Adapter::visit_busy(const std::function<void(const char*, hw::Time)>& visit) const {
  visit("doorbell", units_->doorbell.stage().busy());
  visit("wqe_fetch", units_->wqe_fetch.stage().busy());
  visit("requester", units_->scheduler.stage().busy());
  visit("responder", units_->responder.stage().busy());
  visit("response", units_->response.stage().busy());
  visit("atomic", units_->atomic.busy());
  visit("completion", units_->completion.stage().busy());
  visit("event", units_->event.stage().busy());
}

}  // namespace hcasim::hca
