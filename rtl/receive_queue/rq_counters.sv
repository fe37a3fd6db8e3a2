// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Turns what happened in a cycle into pulses in the next one (README, Counters).
module rq_counters #(
    parameter int unsigned Takes = 16
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             judged_i,
    input  logic             peek_i,
    input  logic [2:0]       status_i,
    input  logic             waited_i,
    input  logic [Takes-1:0] begins_to_wait_i,
    input  logic             bell_i,
    input  logic             bell_bad_i,
    input  logic             command_i,
    input  logic             fetch_i,
    input  logic [7:0]       slots_i,
    input  logic             beat_i,
    input  logic             beat_unknown_i,
    input  logic             beat_fail_i,
    input  logic             evict_i,
    input  logic [7:0]       evicted_i,
    input  logic             drop_i,
    input  logic             limit_event_i,
    input  logic             fetch_error_event_i,
    output logic             takes_ok_o,
    output logic             takes_empty_o,
    output logic             takes_flushed_o,
    output logic             takes_bad_queue_o,
    output logic             takes_fetch_error_o,
    output logic             peeks_ok_o,
    output logic             peeks_empty_o,
    output logic             peeks_flushed_o,
    output logic             peeks_bad_queue_o,
    output logic [2:0]       takes_waited_o,
    output logic             takes_ok_at_once_o,
    output logic             doorbells_o,
    output logic             bad_doorbells_o,
    output logic             commands_o,
    output logic             dma_requests_o,
    output logic [7:0]       wqes_fetched_o,
    output logic             dma_beats_o,
    output logic             dma_beats_unknown_o,
    output logic             dma_requests_failed_o,
    output logic             evictions_o,
    output logic [7:0]       wqes_evicted_o,
    output logic             fifo_drops_o,
    output logic             limit_events_o,
    output logic             fetch_error_events_o
);

  logic       take, peek, ok, empty, flushed, bad_queue, fetch_error;
  logic [2:0] waits;

  assign take        = judged_i && !peek_i;
  assign peek        = judged_i && peek_i;
  assign ok          = status_i == receive_queue_pkg::TakeOk;
  assign empty       = status_i == receive_queue_pkg::TakeEmpty;
  assign flushed     = status_i == receive_queue_pkg::TakeFlushed;
  assign bad_queue   = status_i == receive_queue_pkg::TakeBadQueue;
  assign fetch_error = status_i == receive_queue_pkg::TakeFetchError;

  // At most four in a cycle: by judging, a doorbell, a command and a take.
  always_comb begin
    waits = 3'd0;
    if (begins_to_wait_i != '0) begin
      for (int unsigned i = 0; i < Takes; i++) waits = waits + 3'(begins_to_wait_i[i]);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      takes_ok_o <= '0;
      takes_empty_o <= '0;
      takes_flushed_o <= '0;
      takes_bad_queue_o <= '0;
      takes_fetch_error_o <= '0;
      peeks_ok_o <= '0;
      peeks_empty_o <= '0;
      peeks_flushed_o <= '0;
      peeks_bad_queue_o <= '0;
      takes_waited_o <= '0;
      takes_ok_at_once_o <= '0;
      doorbells_o <= '0;
      bad_doorbells_o <= '0;
      commands_o <= '0;
      dma_requests_o <= '0;
      wqes_fetched_o <= '0;
      dma_beats_o <= '0;
      dma_beats_unknown_o <= '0;
      dma_requests_failed_o <= '0;
      evictions_o <= '0;
      wqes_evicted_o <= '0;
      fifo_drops_o <= '0;
      limit_events_o <= '0;
      fetch_error_events_o <= '0;
    end else begin
      takes_ok_o <= take && ok;
      takes_empty_o <= take && empty;
      takes_flushed_o <= take && flushed;
      takes_bad_queue_o <= take && bad_queue;
      takes_fetch_error_o <= take && fetch_error;
      peeks_ok_o <= peek && ok;
      peeks_empty_o <= peek && empty;
      peeks_flushed_o <= peek && flushed;
      peeks_bad_queue_o <= peek && bad_queue;
      takes_waited_o <= waits;
      takes_ok_at_once_o <= take && ok && !waited_i;
      doorbells_o <= bell_i;
      bad_doorbells_o <= bell_bad_i;
      commands_o <= command_i;
      dma_requests_o <= fetch_i;
      wqes_fetched_o <= fetch_i ? slots_i : 8'd0;
      dma_beats_o <= beat_i;
      dma_beats_unknown_o <= beat_unknown_i;
      dma_requests_failed_o <= beat_fail_i;
      evictions_o <= evict_i;
      wqes_evicted_o <= evict_i ? evicted_i : 8'd0;
      fifo_drops_o <= drop_i;
      limit_events_o <= limit_event_i;
      fetch_error_events_o <= fetch_error_event_i;
    end
  end

endmodule
