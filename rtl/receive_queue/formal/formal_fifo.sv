// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// FIFO of the checks. What enters an empty one can leave in the same cycle.
module formal_fifo #(
    parameter int unsigned Width = 8
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             push_i,
    input  logic [Width-1:0] data_i,
    input  logic             pop_i,
    output logic             valid_o,
    output logic [Width-1:0] data_o,
    output logic             fits_o  // no more than its four items
);

  logic [Width-1:0] a_q, b_q, c_q, d_q;
  logic [2:0]       count_q;
  logic [2:0]       after_pop;

  assign valid_o   = count_q != 3'd0 || push_i;
  assign data_o    = count_q != 3'd0 ? a_q : data_i;
  assign after_pop = count_q - 3'(pop_i && count_q != 3'd0);
  assign fits_o    = count_q <= 3'd4;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) count_q <= 3'd0;
    else count_q <= count_q + 3'(push_i) - 3'(pop_i);
    if (pop_i && count_q != 3'd0) begin
      a_q <= b_q;
      b_q <= c_q;
      c_q <= d_q;
    end
    if (push_i) begin
      case (after_pop)
        3'd0:    a_q <= data_i;
        3'd1:    b_q <= data_i;
        3'd2:    c_q <= data_i;
        default: d_q <= data_i;
      endcase
    end
  end

endmodule
