// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// The queue that eviction picks: the one whose next WQE belongs to the oldest request, of those that
// hold complete WQEs and that nothing protects. Requests are numbered as they are chosen; 48 bits
// outlast three days of one request a cycle at 1 GHz, and after that only the choice would be off.
module rq_eviction #(
    parameter int unsigned Queues = 64,
    parameter int unsigned QW = 6,
    parameter int unsigned StampWidth = 48
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  wanted_i,
    input  logic [Queues-1:0]     stocked_i,       // queues with complete WQEs
    input  logic [Queues-1:0]     waits_i,         // with a waiting TAKE
    input  logic [Queues-1:0]     fetching_i,      // with a request outstanding
    input  logic                  holds_i,         // with a WQE in the take_rsp register
    input  logic [QW-1:0]         holds_queue_i,
    output logic                  victim_valid_o,
    output logic [QW-1:0]         victim_o,
    // a request is chosen
    input  logic                  open_i,
    output logic [StampWidth-1:0] stamp_o,
    // the request of a queue's next WQE: after judging, and when its first beat arrives
    input  logic                  consume_i,
    input  logic [QW-1:0]         judge_queue_i,
    input  logic [StampWidth-1:0] judge_stamp_i,
    input  logic                  arrive_i,
    input  logic [QW-1:0]         arrive_queue_i,
    input  logic [StampWidth-1:0] arrive_stamp_i
);

  localparam int unsigned Leaves = 1 << QW;
  localparam int unsigned NodeWidth = 1 + StampWidth + QW;

  logic [StampWidth-1:0] stamp_q;
  logic [StampWidth-1:0] oldest_q [0:Queues-1];  // request of the queue's next WQE
  logic [Queues-1:0]     candidates;

  always_comb begin
    candidates = stocked_i & ~waits_i & ~fetching_i;
    if (holds_i) candidates[holds_queue_i] = 1'b0;
  end

  // A tree of comparisons; node n has the children 2 n and 2 n + 1. A node is {none, stamp, queue},
  // so that the smaller of two is the older, and no candidate loses against any.
  function automatic logic [QW-1:0] oldest_of(input logic [Queues-1:0] set);
    logic [2*Leaves*NodeWidth-1:0] nodes;
    nodes = '1;
    for (int unsigned i = 0; i < Queues; i++) begin
      if (set[i]) nodes[(Leaves+i)*NodeWidth +: NodeWidth] = {1'b0, oldest_q[QW'(i)], QW'(i)};
    end
    for (int unsigned i = Leaves - 1; i > 0; i--) begin
      if (nodes[2*i*NodeWidth +: NodeWidth] < nodes[(2*i+1)*NodeWidth +: NodeWidth])
        nodes[i*NodeWidth +: NodeWidth] = nodes[2*i*NodeWidth +: NodeWidth];
      else nodes[i*NodeWidth +: NodeWidth] = nodes[(2*i+1)*NodeWidth +: NodeWidth];
    end
    oldest_of = nodes[NodeWidth +: QW];
  endfunction

  assign victim_valid_o = wanted_i && candidates != '0;
  always_comb begin
    victim_o = '0;
    if (victim_valid_o) victim_o = oldest_of(candidates);
  end

  assign stamp_o = stamp_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) stamp_q <= '0;
    else if (open_i) stamp_q <= stamp_q + StampWidth'(1);
  end

  always_ff @(posedge clk_i) begin
    if (consume_i) oldest_q[judge_queue_i] <= judge_stamp_i;
    if (arrive_i) oldest_q[arrive_queue_i] <= arrive_stamp_i;
  end

endmodule
