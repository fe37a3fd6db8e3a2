// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Step 6: one doorbell, with its queue as after step 5. Combinational.
module rq_doorbell_stage #(
    parameter int unsigned IndexWidth = 16
) (
    input  logic                  item_i,        // there is a doorbell
    input  logic                  known_i,       // its queue number is below Queues
    input  logic [IndexWidth-1:0] new_head_i,
    input  logic [1:0]            state_i,       // after step 5
    input  logic [IndexWidth-1:0] size_i,
    input  logic [IndexWidth-1:0] head_i,
    input  logic [IndexWidth-1:0] tail_i,        // as if the take looked at were judged
    input  logic                  event_free_i,
    output logic                  bad_o,         // whether or not its event can enter
    output logic                  taken_o,       // accepted
    output logic                  event_o,       // BAD_DOORBELL enters
    output logic                  move_o,
    output logic                  leave_o        // to ERROR
);

  logic                  ready, paused, outside, equal, going_back, bad_head;
  logic [IndexWidth-1:0] posted, given;

  assign ready    = known_i && state_i == receive_queue_pkg::StateReady;
  assign paused   = known_i && state_i == receive_queue_pkg::StatePaused;
  assign outside  = new_head_i >= size_i;
  assign equal    = new_head_i == head_i;
  assign posted   = head_i >= tail_i ? head_i - tail_i : head_i - tail_i + size_i;
  assign given    = new_head_i >= tail_i ? new_head_i - tail_i : new_head_i - tail_i + size_i;
  assign going_back   = given < posted;
  assign bad_head = outside || (!equal && going_back);

  assign bad_o   = item_i && (!known_i || state_i == receive_queue_pkg::StateInvalid || paused ||
                              (ready && bad_head));
  assign taken_o = item_i && (!bad_o || event_free_i);
  assign event_o = bad_o && event_free_i;
  assign leave_o = event_o && (ready || paused);
  assign move_o  = item_i && ready && !bad_head && !equal;

endmodule
