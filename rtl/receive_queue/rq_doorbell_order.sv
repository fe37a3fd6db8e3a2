// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// How many doorbells each buffered command still has to wait for: those handshaken before it or
// with it that are not accepted yet.
module rq_doorbell_order (
    input  logic       clk_i,
    input  logic [1:0] cmd_held_i,    // commands and doorbells buffered at the start of the cycle
    input  logic [1:0] bell_held_i,
    input  logic       cmd_enter_i,   // handshakes
    input  logic       bell_enter_i,
    input  logic       bell_taken_i,  // a doorbell is accepted in this cycle
    input  logic       cmd_taken_i,
    output logic       done_o         // nothing is before the oldest command after step 6
);

  logic [1:0] ahead, first_q, second_q, item, entering, first, second;

  function automatic logic [1:0] less(input logic [1:0] count, input logic taken);
    less = taken && count != 2'd0 ? count - 2'd1 : count;
  endfunction

  assign ahead    = bell_held_i + {1'b0, bell_enter_i};
  assign entering = less(ahead, bell_taken_i);
  assign first    = less(first_q, bell_taken_i);
  assign second   = less(second_q, bell_taken_i);
  assign item     = cmd_held_i == 2'd0 ? entering : first;
  assign done_o   = item == 2'd0;

  always_ff @(posedge clk_i) begin
    if (cmd_taken_i && cmd_held_i == 2'd2) first_q <= second;
    else if (cmd_enter_i && (cmd_held_i == 2'd0 || cmd_taken_i)) first_q <= entering;
    else first_q <= first;
    second_q <= cmd_enter_i && cmd_held_i == 2'd1 ? entering : second;
  end

endmodule
