// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// One queue as it will be after this cycle: its registers with what every step does to them. Tells
// what the oldest waiting TAKE of the queue can expect in the next cycle. Combinational.
module rq_queue_view #(
    parameter int unsigned Prefetch = 8,
    parameter int unsigned IndexWidth = 16,
    parameter int unsigned QW = 6,
    parameter int unsigned PW = 3
) (
    input  logic                  active_i,         // else the outputs are 0
    input  logic [QW-1:0]         queue_i,
    // registers at the start of the cycle
    input  logic [1:0]            state_i,
    input  logic [IndexWidth-1:0] head_i,
    input  logic [IndexWidth-1:0] fetch_i,
    input  logic [IndexWidth-1:0] tail_i,
    input  logic [PW-1:0]         place_i,
    input  logic [Prefetch-1:0]   done_i,
    // step 2, judging
    input  logic                  consume_i,
    input  logic [QW-1:0]         judge_queue_i,
    input  logic [IndexWidth-1:0] judge_tail_i,
    input  logic [PW-1:0]         judge_place_i,
    input  logic                  holds_i,          // a WQE will be in the take_rsp register
    input  logic [QW-1:0]         holds_queue_i,
    // step 3, fetch stage
    input  logic                  fetch_go_i,
    input  logic [QW-1:0]         fetch_queue_i,
    input  logic [IndexWidth-1:0] fetch_next_i,
    input  logic                  evict_i,
    input  logic [QW-1:0]         victim_i,
    // step 5, dma_rsp
    input  logic [QW-1:0]         beat_queue_i,
    input  logic [Prefetch-1:0]   beat_done_i,      // WQEs that this beat completes
    input  logic                  beat_fail_i,
    // step 6, doorbell
    input  logic [QW-1:0]         bell_queue_i,
    input  logic                  bell_move_i,
    input  logic [IndexWidth-1:0] bell_head_i,
    input  logic                  bell_leave_i,
    // step 7, command
    input  logic [QW-1:0]         cmd_queue_i,
    input  logic                  cmd_set_state_i,
    input  logic [1:0]            cmd_state_i,
    input  logic                  cmd_load_i,       // INIT or RESUME: head and tail are given
    input  logic [IndexWidth-1:0] cmd_head_i,
    input  logic [IndexWidth-1:0] cmd_tail_i,
    // after the cycle
    output logic [1:0]            state_o,
    output logic                  pending_o,  // a TAKE waits for a WQE that is posted
    output logic                  settled_o,  // a TAKE can be answered
    output logic                  needy_o     // a TAKE waits and nothing of the queue is on its way
);

  logic                  judged, beaten, rung, commanded, emptied, ready, posted, complete;
  logic                  blocked;
  logic [IndexWidth-1:0] head, fetch, tail;
  logic [PW-1:0]         place;

  if (Prefetch == 1) begin : gen_blocked
    assign blocked = holds_i && holds_queue_i == queue_i;
  end else begin : gen_free
    logic unused;
    assign unused  = ^{holds_i, holds_queue_i};
    assign blocked = 1'b0;
  end

  // One block, so that a simulator passes over it when the step does nothing.
  always_comb begin
    judged    = 1'b0;
    beaten    = 1'b0;
    rung      = 1'b0;
    commanded = 1'b0;
    emptied   = 1'b0;
    ready     = 1'b0;
    posted    = 1'b0;
    complete  = 1'b0;
    head      = '0;
    fetch     = '0;
    tail      = '0;
    place     = '0;
    state_o   = receive_queue_pkg::StateInvalid;
    settled_o = 1'b0;
    pending_o = 1'b0;
    needy_o   = 1'b0;
    if (active_i) begin
      judged    = consume_i && judge_queue_i == queue_i;
      beaten    = beat_queue_i == queue_i;
      rung      = bell_queue_i == queue_i;
      commanded = cmd_queue_i == queue_i;

      state_o = state_i;
      if ((beaten && beat_fail_i) || (rung && bell_leave_i))
        state_o = receive_queue_pkg::StateError;
      if (commanded && cmd_set_state_i) state_o = cmd_state_i;
      ready = state_o == receive_queue_pkg::StateReady;

      head = head_i;
      tail = judged ? judge_tail_i : tail_i;
      if (rung && bell_move_i) head = bell_head_i;
      if (commanded && cmd_load_i) begin
        head = cmd_head_i;
        tail = cmd_tail_i;
      end

      // Matters only while READY; a queue that is not has nothing fetched.
      emptied = (evict_i && victim_i == queue_i) || (commanded && cmd_load_i);
      fetch   = fetch_go_i && fetch_queue_i == queue_i ? fetch_next_i : fetch_i;
      if (emptied) fetch = tail;

      place    = judged ? judge_place_i : place_i;
      complete = !emptied && ((done_i[place] && !(judged && place == place_i)) ||
                              (beaten && beat_done_i[place]));
      posted   = head != tail;

      settled_o = ready && (!posted || complete);
      pending_o = ready && posted && !complete;
      needy_o   = ready && posted && fetch == tail && !blocked;
    end
  end

endmodule
