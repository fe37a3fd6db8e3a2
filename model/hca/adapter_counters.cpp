// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// What an adapter counts, unit by unit, and the shares of time that its units were busy.
#include "hca/adapter.hpp"
#include "hca/atomic_unit.hpp"
#include "hca/command_unit.hpp"
#include "hca/completion_unit.hpp"
#include "hca/doorbell_unit.hpp"
#include "hca/event_moderation.hpp"
#include "hca/event_unit.hpp"
#include "hca/receive_queue_port.hpp"
#include "hca/requester.hpp"
#include "hca/responder.hpp"
#include "hca/response_handler.hpp"
#include "hca/response_unit.hpp"
#include "hca/send_scheduler.hpp"
#include "hca/wqe_fetch.hpp"

namespace hcasim::hca {

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

void visit_doorbell(CounterVisitor& v, Core& core) {
  v.unit("doorbell");
  v.counter("doorbells", core.doorbell->counters().doorbells);
  v.counter("merged", core.doorbell->counters().merged);
  v.counter("stalled", core.doorbell->counters().stalled);
  v.counter("bad", core.doorbell->counters().bad);
  v.counter("blue_flame", core.doorbell->counters().blue_flame);
  v.counter("blue_flame_ignored", core.doorbell->counters().blue_flame_ignored);
}

void visit_wqe_fetch(CounterVisitor& v, Core& core) {
  v.unit("wqe_fetch");
  v.counter("fetches", core.wqe_fetch->counters().fetches);
  v.counter("wqes", core.wqe_fetch->counters().wqes);
  v.counter("discarded", core.wqe_fetch->counters().discarded);
}

void visit_requester(CounterVisitor& v, Core& core) {
  v.unit("requester");
  const Requester::Counters& requester = core.requester->counters();
  v.counter("packets", requester.packets);
  v.counter("messages", requester.messages);
  v.counter("n_rc_resends", requester.retransmitted_packets);
  v.counter("n_rc_crwaits", requester.credit_waits);
  const ResponseHandler::Counters& answers = core.response_handler->counters();
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
}

void visit_responder(CounterVisitor& v, Core& core) {
  v.unit("responder");
  const Responder::Counters& responder = core.responder->counters();
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
}

void visit_response(CounterVisitor& v, Core& core) {
  v.unit("response");
  const ResponseUnit::Counters& response = core.response->counters();
  v.counter("acks", response.acks);
  v.counter("acks_merged", response.acks_merged);
  v.counter("naks", response.naks);
  v.counter("rnr_naks", response.rnr_naks);
  v.counter("read_response_packets", response.read_response_packets);
  v.counter("atomic_responses", response.atomic_responses);
  v.counter("atomic_replays", response.atomic_replays);
}

void visit_receive_queue(CounterVisitor& v, Core& core) {
  v.unit("receive_queue");
  const ReceiveQueueCounters& queue = core.receive_queue->unit().counters();
  v.counter("takes_ok", queue.takes_ok);
  v.counter("takes_empty", queue.takes_empty);
  v.counter("takes_flushed", queue.takes_flushed);
  v.counter("takes_waited", queue.takes_waited);
  v.counter("doorbells", queue.doorbells);
  v.counter("dma_requests", queue.dma_requests);
  v.counter("wqes_fetched", queue.wqes_fetched);
  v.counter("wqes_evicted", queue.wqes_evicted);
}

void visit_completion(CounterVisitor& v, Core& core) {
  v.unit("completion");
  const CompletionUnit::Counters& completion = core.completion->counters();
  v.counter("cqes", completion.cqes);
  v.counter("cqe_error", completion.cqe_error);
  v.counter("req_cqe_error", completion.req_cqe_error);
  v.counter("resp_cqe_error", completion.resp_cqe_error);
  v.counter("req_cqe_flush_error", completion.req_cqe_flush_error);
  v.counter("resp_cqe_flush_error", completion.resp_cqe_flush_error);
  v.counter("cq_overflow", completion.cq_overflow);
  v.counter("consumer_reads", completion.consumer_reads);
}

void visit_context_cache(CounterVisitor& v, Core& core) {
  v.unit("context_cache");
  const ReceiveQueueCounters& queue = core.receive_queue->unit().counters();
  visit_cache(v, {"qpc_cache_hit", "qpc_cache_miss", "qpc_cache_fetch"}, core.caches.qpc);
  v.counter("qpc_cache_writeback", core.caches.qpc.counters().written);
  visit_cache(v, {"cqc_cache_hit", "cqc_cache_miss", "cqc_cache_fetch"}, core.caches.cqc);
  v.counter("cqc_cache_writeback", core.caches.cqc.counters().written);
  Translation& translation = core.caches.translation;
  visit_cache(v, {"mpt_cache_hit", "mpt_cache_miss", "mpt_cache_fetch"}, translation.mpt());
  visit_cache(v, {"mtt_cache_hit", "mtt_cache_miss", "mtt_cache_fetch"}, translation.mtt());
  v.counter("rwqe_cache_hit", queue.takes_ok_at_once);
  v.counter("rwqe_cache_miss", queue.takes_ok - queue.takes_ok_at_once);
}

void visit_event(CounterVisitor& v, Core& core) {
  v.unit("event");
  v.counter("events", core.event->counters().events);
  v.counter("held", core.moderation->counters().held);
  v.counter("expired", core.moderation->counters().expired);
  v.counter("interrupts", core.event->counters().interrupts);
  v.counter("lost", core.event->counters().lost);
  v.counter("port_err", core.event->counters().port_err);
  v.counter("port_active", core.event->counters().port_active);
}

void visit_command(CounterVisitor& v, Core& core) {
  v.unit("command");
  v.counter("commands", core.command->counters().commands);
  v.counter("failed", core.command->counters().failed);
}

}  // namespace

void Adapter::visit_counters(CounterVisitor& v) const {
  core_->receive_queue->settle();
  visit_doorbell(v, *core_);
  visit_wqe_fetch(v, *core_);
  visit_requester(v, *core_);
  visit_responder(v, *core_);
  visit_response(v, *core_);
  visit_receive_queue(v, *core_);
  visit_completion(v, *core_);
  visit_context_cache(v, *core_);
  visit_event(v, *core_);
  visit_command(v, *core_);
}

void Adapter::visit_busy(const std::function<void(const char*, hw::Time)>& visit) const {
  visit("doorbell", core_->doorbell->stage().busy());
  visit("wqe_fetch", core_->wqe_fetch->stage().busy());
  visit("requester", core_->scheduler->stage().busy());
  visit("responder", core_->responder->stage().busy());
  visit("response", core_->response->stage().busy());
  visit("atomic", core_->atomic->busy());
  visit("completion", core_->completion->stage().busy());
  visit("event", core_->event->stage().busy());
}

}  // namespace hcasim::hca
