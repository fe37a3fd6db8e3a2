// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// The requests whose WQEs have not all been handed over, in the order in which they were chosen, and
// the queue that eviction picks. An entry dies when its last WQE is judged or its queue loses what it
// has buffered; one dead entry a cycle is taken out of the list. Live entries own at least a line
// each and a request adds one entry a cycle, so the list never holds more than Lines entries, and a
// number that is free is there even while one is being taken out.
module rq_age_list #(
    parameter int unsigned Queues = 64,
    parameter int unsigned Lines = 64,
    parameter int unsigned QW = 6,
    parameter int unsigned BW = 7
) (
    input  logic              clk_i,
    input  logic              rst_ni,
    // eviction
    input  logic              wanted_i,
    input  logic [Queues-1:0] waits_i,
    input  logic [Queues-1:0] fetching_i,
    input  logic              holds_i,
    input  logic [QW-1:0]     holds_queue_i,
    output logic              victim_valid_o,
    output logic [QW-1:0]     victim_o,
    input  logic              evict_i,
    // a new request
    input  logic              open_i,
    input  logic [QW-1:0]     open_queue_i,
    output logic [BW-1:0]     open_id_o,
    // its last WQE is judged
    input  logic              close_i,
    input  logic [BW-1:0]     close_id_i,
    // queues that leave READY in steps 5, 6 and 7
    input  logic              beat_leave_i,
    input  logic [QW-1:0]     beat_queue_i,
    input  logic              bell_leave_i,
    input  logic [QW-1:0]     bell_queue_i,
    input  logic              cmd_leave_i,
    input  logic [QW-1:0]     cmd_queue_i
);

  localparam int unsigned Ids = Lines + 1;

  logic [Ids-1:0]      used_q, live_q, live_d, dead;
  logic [QW-1:0]       queue_q [0:Ids-1];
  logic [Lines*BW-1:0] order_q, order_d;       // numbers, the oldest in the lowest place
  logic [BW-1:0]       count_q, after_purge;
  logic                purge, any_leave;
  logic [Ids-1:0]      open_one_hot, purge_one_hot;
  logic                unused_found;

  lowest_bit #(.Width(Ids), .IndexWidth(BW)) u_free (
      .bits_i(~used_q), .found_o(unused_found), .one_hot_o(open_one_hot), .index_o(open_id_o));

  assign dead        = used_q & ~live_q;
  assign purge       = |dead;
  assign after_purge = count_q - BW'(purge);
  assign any_leave   = evict_i || beat_leave_i || bell_leave_i || cmd_leave_i;

  // The oldest entry of a queue that nothing holds.
  logic [BW-1:0] scanned;
  logic [QW-1:0] scanned_queue;

  always_comb begin
    victim_valid_o = 1'b0;
    victim_o       = '0;
    scanned        = '0;
    scanned_queue  = '0;
    if (wanted_i) begin
      for (int unsigned i = 0; i < Lines; i++) begin
        scanned       = order_q[i*BW +: BW];
        scanned_queue = queue_q[scanned];
        if (!victim_valid_o && BW'(i) < count_q && live_q[scanned] && !waits_i[scanned_queue] &&
            !fetching_i[scanned_queue] && !(holds_i && holds_queue_i == scanned_queue)) begin
          victim_valid_o = 1'b1;
          victim_o       = scanned_queue;
        end
      end
    end
  end

  // Take out the oldest dead entry, append the new one.
  logic passed;

  always_comb begin
    order_d       = order_q;
    passed        = 1'b0;
    purge_one_hot = '0;
    if (purge) begin
      for (int unsigned i = 0; i < Lines; i++) begin
        if (!passed && BW'(i) < count_q && dead[order_q[i*BW +: BW]]) begin
          passed = 1'b1;
          purge_one_hot[order_q[i*BW +: BW]] = 1'b1;
        end
        if (passed && i + 1 < Lines) order_d[i*BW +: BW] = order_q[(i+1)%Lines*BW +: BW];
      end
    end
    if (open_i) begin
      for (int unsigned i = 0; i < Lines; i++) begin
        if (after_purge == BW'(i)) order_d[i*BW +: BW] = open_id_o;
      end
    end
  end

  always_comb begin
    live_d = live_q;
    if (close_i) live_d[close_id_i] = 1'b0;
    if (any_leave) begin
      for (int unsigned i = 0; i < Ids; i++) begin
        if ((evict_i && queue_q[i] == victim_o) ||
            (beat_leave_i && queue_q[i] == beat_queue_i) ||
            (bell_leave_i && queue_q[i] == bell_queue_i) ||
            (cmd_leave_i && queue_q[i] == cmd_queue_i))
          live_d[i] = 1'b0;
      end
    end
    if (open_i && !(beat_leave_i && open_queue_i == beat_queue_i) &&
        !(bell_leave_i && open_queue_i == bell_queue_i) &&
        !(cmd_leave_i && open_queue_i == cmd_queue_i))
      live_d = live_d | open_one_hot;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      used_q  <= '0;
      live_q  <= '0;
      count_q <= '0;
    end else begin
      used_q  <= (used_q & ~purge_one_hot) | (open_i ? open_one_hot : '0);
      live_q  <= live_d;
      count_q <= after_purge + BW'(open_i);
    end
  end

  always_ff @(posedge clk_i) begin
    order_q <= order_d;
    if (open_i) queue_q[open_id_o] <= open_queue_i;
  end

endmodule
