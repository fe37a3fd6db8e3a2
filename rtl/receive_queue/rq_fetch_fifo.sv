// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// FIFO of the queues that may fetch. Each is in it at most once; up to four enter in a cycle, in
// the order of the steps 1, 3, 6 and 7.
module rq_fetch_fifo #(
    parameter int unsigned Queues = 64,
    parameter int unsigned QW = 6
) (
    input  logic          clk_i,
    input  logic          rst_ni,
    output logic          valid_o,
    output logic [QW-1:0] queue_o,
    input  logic          pop_i,        // in step 3
    input  logic          enter1_i,     // the queue is eligible after the step
    input  logic [QW-1:0] queue1_i,
    input  logic          enter2_i,
    input  logic [QW-1:0] queue2_i,
    input  logic          enter3_i,
    input  logic [QW-1:0] queue3_i,
    input  logic          enter4_i,
    input  logic [QW-1:0] queue4_i,
    output logic          empty_next_o
);

  localparam int unsigned CountWidth = $clog2(Queues + 1);

  logic [QW-1:0]         ring_q [0:Queues-1];
  logic [Queues-1:0]     in_fifo_q;
  logic [QW-1:0]         read_q, write_q, write1, write2, write3, write4;
  logic [CountWidth-1:0] count_q, count_d;
  logic                  push1, push2, push3, push4;

  function automatic logic [QW-1:0] next_place(input logic [QW-1:0] place);
    next_place = place == QW'(Queues - 1) ? '0 : place + QW'(1);
  endfunction

  assign valid_o = count_q != '0;
  assign queue_o = ring_q[read_q];

  // A queue that is popped may come back in the same cycle, unless it entered in step 1 (then it
  // was not at the head).
  assign push1 = enter1_i && !in_fifo_q[queue1_i];
  assign push2 = enter2_i && (!in_fifo_q[queue2_i] || (pop_i && queue_o == queue2_i)) &&
                 !(push1 && queue1_i == queue2_i);
  assign push3 = enter3_i && (!in_fifo_q[queue3_i] || (pop_i && queue_o == queue3_i)) &&
                 !(push1 && queue1_i == queue3_i) && !(push2 && queue2_i == queue3_i);
  assign push4 = enter4_i && (!in_fifo_q[queue4_i] || (pop_i && queue_o == queue4_i)) &&
                 !(push1 && queue1_i == queue4_i) && !(push2 && queue2_i == queue4_i) &&
                 !(push3 && queue3_i == queue4_i);

  assign write1 = push1 ? next_place(write_q) : write_q;
  assign write2 = push2 ? next_place(write1) : write1;
  assign write3 = push3 ? next_place(write2) : write2;
  assign write4 = push4 ? next_place(write3) : write3;

  assign count_d = count_q - CountWidth'(pop_i) + CountWidth'(push1) + CountWidth'(push2) +
                   CountWidth'(push3) + CountWidth'(push4);
  assign empty_next_o = count_d == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q   <= '0;
      read_q    <= '0;
      write_q   <= '0;
      in_fifo_q <= '0;
    end else begin
      count_q <= count_d;
      write_q <= write4;
      if (pop_i) begin
        read_q             <= next_place(read_q);
        in_fifo_q[queue_o] <= 1'b0;
      end
      if (push1) in_fifo_q[queue1_i] <= 1'b1;
      if (push2) in_fifo_q[queue2_i] <= 1'b1;
      if (push3) in_fifo_q[queue3_i] <= 1'b1;
      if (push4) in_fifo_q[queue4_i] <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (push1) ring_q[write_q] <= queue1_i;
    if (push2) ring_q[write1] <= queue2_i;
    if (push3) ring_q[write2] <= queue3_i;
    if (push4) ring_q[write3] <= queue4_i;
  end

endmodule
