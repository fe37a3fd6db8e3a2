// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Input buffer of two entries that passes through: what is handshaken can be taken in the same
// cycle when nothing older waits. Ready is a flip-flop and 1 iff fewer than two entries are held.
module pass_buffer #(
    parameter int unsigned Width = 8
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             valid_i,
    output logic             ready_o,
    input  logic [Width-1:0] data_i,
    output logic             item_valid_o,  // the oldest item, held or just handshaken
    output logic [Width-1:0] item_o,
    input  logic             taken_i,       // the item is accepted in this cycle
    output logic [1:0]       held_o,        // entries held at the start of the cycle
    output logic             empty_next_o   // nothing will be held in the next cycle
);

  logic             ready_q;
  logic [1:0]       held_q, held_d;
  logic [Width-1:0] first_q, second_q;
  logic             enter, leave_held;

  assign enter        = valid_i && ready_q;
  assign item_valid_o = held_q != 2'd0 || enter;
  assign item_o       = held_q != 2'd0 ? first_q : data_i;
  assign held_o       = held_q;
  assign leave_held   = taken_i && held_q != 2'd0;
  assign held_d       = held_q + {1'b0, enter} - {1'b0, taken_i};
  assign empty_next_o = held_d == 2'd0;
  assign ready_o      = ready_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q  <= 2'd0;
      ready_q <= 1'b1;
    end else begin
      held_q  <= held_d;
      ready_q <= held_d < 2'd2;
    end
  end

  always_ff @(posedge clk_i) begin
    if (leave_held && held_q == 2'd2) first_q <= second_q;
    else if (enter && (held_q == 2'd0 || leave_held)) first_q <= data_i;
    if (enter && held_q == 2'd1 && !leave_held) second_q <= data_i;
  end

`ifdef FORMAL_PASS_BUFFER
  `include "common/formal/pass_buffer.svh"
`endif

endmodule
