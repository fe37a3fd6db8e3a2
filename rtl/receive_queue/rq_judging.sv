// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Step 2: the answer to the oldest answerable take, from the start of the cycle. Combinational.
module rq_judging #(
    parameter int unsigned Prefetch = 8,
    parameter int unsigned IndexWidth = 16,
    parameter int unsigned PW = 3
) (
    input  logic                  candidate_i,    // there is one, and take_rsp is free for it
    input  logic                  peek_i,
    input  logic                  flushed_i,      // verdicts
    input  logic                  bad_queue_i,
    input  logic                  fetch_error_i,
    input  logic [IndexWidth-1:0] size_i,         // its queue
    input  logic [IndexWidth-1:0] head_i,
    input  logic [IndexWidth-1:0] tail_i,
    input  logic [IndexWidth-1:0] limit_i,
    input  logic [PW-1:0]         place_i,
    input  logic                  event_free_i,   // an event of steps 2 or 6 can enter
    input  logic                  bell_bad_i,     // the doorbell takes the event, if one can enter
    output logic                  tentative_o,    // consumes, if the doorbell is not bad
    output logic                  judged_o,
    output logic                  consume_o,      // a WQE is handed over
    output logic                  fires_o,        // SRQ_LIMIT enters
    output logic [2:0]            status_o,
    output logic [IndexWidth-1:0] slot_o,
    output logic [IndexWidth-1:0] remaining_o,
    output logic [IndexWidth-1:0] next_tail_o,
    output logic [PW-1:0]         next_place_o
);

  logic                  verdict, posted, ok, hand_over, would_fire;
  logic [IndexWidth-1:0] count;

  assign verdict    = flushed_i || bad_queue_i || fetch_error_i;
  assign posted     = head_i != tail_i;
  assign ok         = !verdict && posted;
  assign hand_over  = ok && !peek_i;
  assign count      = head_i >= tail_i ? head_i - tail_i : head_i - tail_i + size_i;
  assign would_fire = hand_over && limit_i != '0 && count - IndexWidth'(1) < limit_i;

  always_comb begin
    status_o = receive_queue_pkg::TakeOk;
    if (!posted) status_o = receive_queue_pkg::TakeEmpty;
    if (flushed_i) status_o = receive_queue_pkg::TakeFlushed;
    if (bad_queue_i) status_o = receive_queue_pkg::TakeBadQueue;
    if (fetch_error_i) status_o = receive_queue_pkg::TakeFetchError;
  end

  assign slot_o       = ok ? tail_i : '0;
  assign remaining_o  = ok ? (peek_i ? count : count - IndexWidth'(1)) : '0;
  assign next_tail_o  = tail_i == size_i - IndexWidth'(1) ? '0 : tail_i + IndexWidth'(1);
  assign next_place_o = place_i == PW'(Prefetch - 1) ? '0 : place_i + PW'(1);

  // The doorbell is looked at as if the candidate were judged, unless its event cannot enter
  // anyway.
  assign tentative_o = candidate_i && hand_over && !(would_fire && !event_free_i);
  assign judged_o    = candidate_i && !(would_fire && (!event_free_i || bell_bad_i));
  assign consume_o   = judged_o && hand_over;
  assign fires_o     = judged_o && would_fire;

endmodule
