// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// FIFO whose oldest item stands in a register of its own, so that valid and data come straight from
// flip-flops. What enters an empty FIFO shows in the next cycle. Depth counts the item on the port.
module output_fifo #(
    parameter int unsigned Width = 8,
    parameter int unsigned Depth = 8
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             push_i,       // only with room_o
    input  logic [Width-1:0] data_i,
    output logic             room_o,       // fewer than Depth items at the start of the cycle
    output logic             valid_o,
    input  logic             ready_i,
    output logic [Width-1:0] data_o,
    output logic             empty_next_o  // nothing will be held in the next cycle
);

  localparam int unsigned CountWidth = $clog2(Depth + 1);

  logic [CountWidth-1:0] count_q, count_d;
  logic                  valid_q;
  logic [Width-1:0]      data_q;
  logic                  pop;

  assign pop          = valid_q && ready_i;
  assign count_d      = count_q + CountWidth'(push_i) - CountWidth'(pop);
  assign room_o       = count_q < CountWidth'(Depth);
  assign valid_o      = valid_q;
  assign data_o       = data_q;
  assign empty_next_o = count_d == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      valid_q <= 1'b0;
    end else begin
      count_q <= count_d;
      valid_q <= count_d != '0;
    end
  end

  if (Depth == 1) begin : gen_register
    always_ff @(posedge clk_i) begin
      if (push_i) data_q <= data_i;
    end
  end else begin : gen_ring
    // The items behind the one on the port, in a ring.
    localparam int unsigned RingDepth = Depth - 1;
    // Some tools do not take a memory of one word.
    localparam int unsigned RingWords = RingDepth > 1 ? RingDepth : 2;
    localparam int unsigned RingWidth = RingDepth > 1 ? $clog2(RingDepth) : 1;
    localparam logic [RingWidth-1:0] RingLast = RingWidth'(RingDepth - 1);

    logic [Width-1:0]     ring_q [0:RingWords-1];
    logic [RingWidth-1:0] read_q, write_q;
    logic                 behind, into_ring, out_of_ring;

    assign behind      = count_q > CountWidth'(1);
    assign out_of_ring = pop && behind;
    assign into_ring   = push_i && (behind || (valid_q && !pop));

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        read_q  <= '0;
        write_q <= '0;
      end else begin
        if (out_of_ring) read_q <= read_q == RingLast ? '0 : read_q + RingWidth'(1);
        if (into_ring) write_q <= write_q == RingLast ? '0 : write_q + RingWidth'(1);
      end
    end

    always_ff @(posedge clk_i) begin
      if (into_ring) ring_q[write_q] <= data_i;
      if (out_of_ring) data_q <= ring_q[read_q];
      else if (push_i && !into_ring) data_q <= data_i;
    end
  end

`ifdef FORMAL_OUTPUT_FIFO
  `include "common/formal/output_fifo.svh"
`endif

endmodule
