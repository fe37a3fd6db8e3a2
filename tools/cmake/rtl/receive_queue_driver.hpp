// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Drives one simulated RTL unit: puts the inputs of a cycle on its ports, gives it a clock, reads
// the outputs of the next cycle. What simulates the RTL is hidden behind `Ports`, which has a
// method for each port, put(), get(), put_beat() and get_beat(), and eval().
#pragma once

#include <cstdint>
#include <hcasim/hw/receive_queue_plugin.hpp>

#include "receive_queue_build.hpp"

namespace hcasim::rtl_plugin {

using namespace hw::rq;  // NOLINT(google-build-using-namespace)

template <class Ports>
class ReceiveQueueDriver {
 public:
  template <typename... Arguments>
  explicit ReceiveQueueDriver(Arguments&&... arguments) : p_(arguments...) {}

  /// Registers start anywhere: a clock edge in reset loads them all.
  void reset(Outputs& out) {
    p_.put(p_.rst_ni(), 0, 1);
    put_inputs(Inputs{});
    p_.eval();
    for (int i = 0; i < kResetCycles; ++i) clock();
    p_.put(p_.rst_ni(), 1, 1);
    p_.eval();
    counters_ = {};
    get_outputs(out);
  }

  void step(const Inputs& in, Outputs& out) {
    put_inputs(in);
    p_.eval();
    clock();
    get_outputs(out);
    if constexpr (Ports::kCounts) count();
  }

  const Counters& counters() const { return counters_; }

  Snapshot snapshot(std::uint32_t queue) {
    p_.put(p_.debug_queue_i(), queue, kWidths.queue);
    p_.eval();
    Snapshot s;
    s.state = static_cast<QueueState>(p_.get(p_.debug_state_o()));
    s.size = index(p_.debug_size_o());
    s.head = index(p_.debug_head_o());
    s.fetch = index(p_.debug_fetch_o());
    s.tail = index(p_.debug_tail_o());
    s.limit = index(p_.debug_limit_o());
    return s;
  }

  bool at_rest() { return bit(p_.debug_at_rest_o()); }

 private:
  static constexpr int kResetCycles = 2;

  void clock() {
    p_.put(p_.clk_i(), 1, 1);
    p_.eval();
    p_.put(p_.clk_i(), 0, 1);
    p_.eval();
  }

  template <class Port>
  std::uint16_t index(Port& port) {
    return static_cast<std::uint16_t>(p_.get(port));
  }

  void put_inputs(const Inputs& in) {
    p_.put(p_.cmd_rsp_ready_i(), in.cmd_rsp_ready, 1);
    p_.put(p_.dma_req_ready_i(), in.dma_req_ready, 1);
    p_.put(p_.take_rsp_ready_i(), in.take_rsp_ready, 1);
    p_.put(p_.event_ready_i(), in.event_ready, 1);
    p_.put(p_.cmd_valid_i(), in.cmd_valid, 1);
    p_.put(p_.doorbell_valid_i(), in.doorbell_valid, 1);
    p_.put(p_.dma_rsp_valid_i(), in.dma_rsp_valid, 1);
    p_.put(p_.take_valid_i(), in.take_valid, 1);
    if (in.cmd_valid) put_command(in.cmd);
    if (in.doorbell_valid) put_doorbell(in.doorbell);
    if (in.dma_rsp_valid) put_dma_beat(in.dma_rsp);
    if (in.take_valid) put_take(in.take);
  }

  void put_command(const Command& c) {
    p_.put(p_.cmd_op_i(), static_cast<unsigned>(c.op), 3);
    p_.put(p_.cmd_queue_i(), c.queue, kWidths.queue);
    p_.put(p_.cmd_base_i(), c.base, kWidths.address);
    p_.put(p_.cmd_size_i(), c.size, kWidths.index);
    p_.put(p_.cmd_stride_i(), c.stride, 16);
    p_.put(p_.cmd_head_i(), c.head, kWidths.index);
    p_.put(p_.cmd_tail_i(), c.tail, kWidths.index);
    p_.put(p_.cmd_limit_i(), c.limit, kWidths.index);
    p_.put(p_.cmd_arm_i(), c.arm, 32);
  }

  void put_doorbell(const Doorbell& d) {
    p_.put(p_.doorbell_queue_i(), d.queue, kWidths.queue);
    p_.put(p_.doorbell_head_i(), d.head, kWidths.index);
  }

  void put_dma_beat(const DmaBeat& d) {
    p_.put(p_.dma_rsp_tag_i(), d.tag, 6);
    p_.put(p_.dma_rsp_last_i(), d.last, 1);
    p_.put(p_.dma_rsp_error_i(), d.error, 1);
    p_.put_beat(p_.dma_rsp_data_i(), d.data);
  }

  void put_take(const Take& t) {
    p_.put(p_.take_queue_i(), t.queue, kWidths.queue);
    p_.put(p_.take_tag_i(), t.tag, kWidths.take_tag);
    p_.put(p_.take_kind_i(), static_cast<unsigned>(t.kind), 1);
  }

  template <class Port>
  bool bit(Port& port) {
    return p_.get(port) != 0;
  }

  void get_outputs(Outputs& out) {
    out.cmd_ready = bit(p_.cmd_ready_o());
    out.doorbell_ready = bit(p_.doorbell_ready_o());
    out.take_ready = bit(p_.take_ready_o());
    out.idle = bit(p_.idle_o());
    out.cmd_rsp_valid = bit(p_.cmd_rsp_valid_o());
    out.dma_req_valid = bit(p_.dma_req_valid_o());
    out.take_rsp_valid = bit(p_.take_rsp_valid_o());
    out.event_valid = bit(p_.event_valid_o());
    if (out.cmd_rsp_valid) get_answer(out.cmd_rsp);
    if (out.dma_req_valid) get_request(out.dma_req);
    if (out.take_rsp_valid) get_take_beat(out.take_rsp);
    if (out.event_valid) get_event(out.event);
  }

  void get_answer(CommandAnswer& a) {
    a.status = static_cast<CommandStatus>(p_.get(p_.cmd_rsp_status_o()));
    a.snapshot.state = static_cast<QueueState>(p_.get(p_.cmd_rsp_state_o()));
    a.snapshot.size = index(p_.cmd_rsp_size_o());
    a.snapshot.head = index(p_.cmd_rsp_head_o());
    a.snapshot.fetch = index(p_.cmd_rsp_fetch_o());
    a.snapshot.tail = index(p_.cmd_rsp_tail_o());
    a.snapshot.limit = index(p_.cmd_rsp_limit_o());
  }

  void get_request(DmaRequest& r) {
    r.tag = static_cast<std::uint8_t>(p_.get(p_.dma_req_tag_o()));
    r.address = p_.get(p_.dma_req_address_o());
    r.bytes = static_cast<std::uint32_t>(p_.get(p_.dma_req_bytes_o()));
  }

  void get_take_beat(TakeBeat& t) {
    t.tag = static_cast<std::uint32_t>(p_.get(p_.take_rsp_tag_o()));
    t.status = static_cast<TakeStatus>(p_.get(p_.take_rsp_status_o()));
    t.last = bit(p_.take_rsp_last_o());
    t.slot = index(p_.take_rsp_slot_o());
    t.remaining = index(p_.take_rsp_remaining_o());
    p_.get_beat(p_.take_rsp_wqe_o(), t.wqe);
  }

  void get_event(Event& e) {
    e.queue = static_cast<std::uint32_t>(p_.get(p_.event_queue_o()));
    e.kind = static_cast<EventKind>(p_.get(p_.event_kind_o()));
    e.value = static_cast<std::uint32_t>(p_.get(p_.event_value_o()));
  }

  void count();

  Ports p_;
  Counters counters_;
};

template <class Ports>
void ReceiveQueueDriver<Ports>::count() {
  counters_.takes_ok += p_.get(p_.count_takes_ok_o());
  counters_.takes_empty += p_.get(p_.count_takes_empty_o());
  counters_.takes_flushed += p_.get(p_.count_takes_flushed_o());
  counters_.takes_bad_queue += p_.get(p_.count_takes_bad_queue_o());
  counters_.takes_fetch_error += p_.get(p_.count_takes_fetch_error_o());
  counters_.peeks_ok += p_.get(p_.count_peeks_ok_o());
  counters_.peeks_empty += p_.get(p_.count_peeks_empty_o());
  counters_.peeks_flushed += p_.get(p_.count_peeks_flushed_o());
  counters_.peeks_bad_queue += p_.get(p_.count_peeks_bad_queue_o());
  counters_.takes_waited += p_.get(p_.count_takes_waited_o());
  counters_.takes_ok_at_once += p_.get(p_.count_takes_ok_at_once_o());
  counters_.doorbells += p_.get(p_.count_doorbells_o());
  counters_.bad_doorbells += p_.get(p_.count_bad_doorbells_o());
  counters_.commands += p_.get(p_.count_commands_o());
  counters_.dma_requests += p_.get(p_.count_dma_requests_o());
  counters_.wqes_fetched += p_.get(p_.count_wqes_fetched_o());
  counters_.dma_beats += p_.get(p_.count_dma_beats_o());
  counters_.dma_beats_unknown += p_.get(p_.count_dma_beats_unknown_o());
  counters_.dma_requests_failed += p_.get(p_.count_dma_requests_failed_o());
  counters_.evictions += p_.get(p_.count_evictions_o());
  counters_.wqes_evicted += p_.get(p_.count_wqes_evicted_o());
  counters_.fifo_drops += p_.get(p_.count_fifo_drops_o());
  counters_.limit_events += p_.get(p_.count_limit_events_o());
  counters_.fetch_error_events += p_.get(p_.count_fetch_error_events_o());
}

}  // namespace hcasim::rtl_plugin
