// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Order of entering of the entries of a table, as a matrix of "row was there before column", and
// the oldest of two sets of candidates. Needs no reset: the bits of two entries are right once both
// have entered. Candidates must have entered.
module age_order #(
    parameter int unsigned Entries = 16
) (
    input  logic               clk_i,
    input  logic               enter_i,
    input  logic [Entries-1:0] enter_one_hot_i,
    input  logic [Entries-1:0] first_set_i,
    output logic [Entries-1:0] first_oldest_o,   // one-hot, or none
    input  logic [Entries-1:0] second_set_i,
    output logic [Entries-1:0] second_oldest_o
);

  for (genvar i = 0; i < Entries; i++) begin : gen_entry
    logic [Entries-1:0] older_q;  // who entered before entry i

    assign first_oldest_o[i]  = first_set_i[i] && (first_set_i & older_q) == '0;
    assign second_oldest_o[i] = second_set_i[i] && (second_set_i & older_q) == '0;

    always_ff @(posedge clk_i) begin
      if (enter_i) older_q <= enter_one_hot_i[i] ? ~enter_one_hot_i : older_q & ~enter_one_hot_i;
    end
  end

`ifdef FORMAL_AGE_ORDER
  `include "common/formal/age_order.svh"
`endif

endmodule
