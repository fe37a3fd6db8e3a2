// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Registers of all queues, and what the steps of a cycle write to them. Reads show the start of the
// cycle. Only "not INVALID" is reset; INIT sets everything else.
module rq_queue_file #(
    parameter int unsigned Queues = 64,
    parameter int unsigned Prefetch = 8,
    parameter int unsigned AddressWidth = 64,
    parameter int unsigned IndexWidth = 16,
    parameter int unsigned QW = 6,
    parameter int unsigned PW = 3
) (
    input  logic                    clk_i,
    input  logic                    rst_ni,
    // step 1: the queue of the WQE in the take_rsp register
    input  logic [QW-1:0]           freed_queue_i,
    output logic [1:0]              freed_state_o,
    output logic [IndexWidth-1:0]   freed_size_o,
    output logic [IndexWidth-1:0]   freed_head_o,
    output logic [IndexWidth-1:0]   freed_fetch_o,
    output logic [IndexWidth-1:0]   freed_tail_o,
    output logic [PW-1:0]           freed_place_o,
    output logic [Prefetch-1:0]     freed_done_o,
    // step 2, judging
    input  logic [QW-1:0]           judge_queue_i,
    output logic [1:0]              judge_state_o,
    output logic [2:0]              judge_stride_o,  // log2 of the stride, less 5
    output logic [IndexWidth-1:0]   judge_size_o,
    output logic [IndexWidth-1:0]   judge_head_o,
    output logic [IndexWidth-1:0]   judge_fetch_o,
    output logic [IndexWidth-1:0]   judge_tail_o,
    output logic [IndexWidth-1:0]   judge_limit_o,
    output logic [31:0]             judge_arm_o,
    output logic [PW-1:0]           judge_place_o,   // of slot tail
    output logic [Prefetch-1:0]     judge_done_o,    // places whose WQE is complete
    input  logic                    consume_i,       // a WQE is handed over
    input  logic [IndexWidth-1:0]   judge_tail_i,    // tail and its place after that
    input  logic [PW-1:0]           judge_place_i,
    input  logic                    disarm_i,
    // step 3, fetch stage
    input  logic [QW-1:0]           fetch_queue_i,
    output logic [1:0]              fetch_state_o,
    output logic [AddressWidth-1:0] fetch_base_o,
    output logic [2:0]              fetch_stride_o,
    output logic [IndexWidth-1:0]   fetch_size_o,
    output logic [IndexWidth-1:0]   fetch_head_o,
    output logic [IndexWidth-1:0]   fetch_fetch_o,
    output logic [IndexWidth-1:0]   fetch_tail_o,
    output logic [PW-1:0]           fetch_place_o,
    input  logic                    fetch_go_i,
    input  logic [IndexWidth-1:0]   fetch_next_i,
    output logic [Queues-1:0]       fetching_o,      // queues with a request outstanding
    output logic [Queues-1:0]       stocked_o,       // queues with complete WQEs
    input  logic                    evict_i,
    input  logic [QW-1:0]           victim_i,
    output logic [7:0]              victim_stored_o, // complete WQEs
    output logic [2:0]              victim_stride_o,
    // step 5, dma_rsp
    input  logic [QW-1:0]           beat_queue_i,
    output logic [1:0]              beat_state_o,
    output logic [IndexWidth-1:0]   beat_size_o,
    output logic [IndexWidth-1:0]   beat_head_o,
    output logic [IndexWidth-1:0]   beat_fetch_o,
    output logic [IndexWidth-1:0]   beat_tail_o,
    output logic [PW-1:0]           beat_place_o,
    output logic [Prefetch-1:0]     beat_done_o,
    output logic [7:0]              beat_stored_o,   // after step 2
    input  logic [1:0]              beat_count_i,    // WQEs that the beat completes
    input  logic [Prefetch-1:0]     beat_done_i,     // and their places
    input  logic                    beat_fail_i,
    input  logic                    request_end_i,
    // step 6, doorbell
    input  logic [QW-1:0]           bell_queue_i,
    output logic [1:0]              bell_state_o,
    output logic [2:0]              bell_stride_o,
    output logic [IndexWidth-1:0]   bell_size_o,
    output logic [IndexWidth-1:0]   bell_head_o,
    output logic [IndexWidth-1:0]   bell_fetch_o,
    output logic [IndexWidth-1:0]   bell_tail_o,
    output logic [PW-1:0]           bell_place_o,
    output logic [Prefetch-1:0]     bell_done_o,
    output logic [7:0]              bell_stored_o,   // after step 5
    input  logic                    bell_move_i,
    input  logic [IndexWidth-1:0]   bell_head_i,
    input  logic                    bell_leave_i,
    // step 7, command
    input  logic [QW-1:0]           cmd_queue_i,
    output logic [1:0]              cmd_state_o,
    output logic [2:0]              cmd_stride_o,
    output logic [IndexWidth-1:0]   cmd_head_o,
    output logic [IndexWidth-1:0]   cmd_fetch_o,
    output logic [IndexWidth-1:0]   cmd_tail_o,
    output logic [PW-1:0]           cmd_place_o,
    output logic [Prefetch-1:0]     cmd_done_o,
    output logic [7:0]              cmd_stored_o,    // after step 6
    input  logic                    cmd_set_state_i,
    input  logic [1:0]              cmd_state_i,
    input  logic                    cmd_leave_i,
    input  logic                    cmd_init_i,
    input  logic                    cmd_load_i,      // INIT or RESUME
    input  logic                    cmd_limit_i,     // INIT or SET_LIMIT
    input  logic [AddressWidth-1:0] cmd_base_i,
    input  logic [2:0]              cmd_stride_i,
    input  logic [IndexWidth-1:0]   cmd_size_i,
    input  logic [IndexWidth-1:0]   cmd_head_i,
    input  logic [IndexWidth-1:0]   cmd_tail_i,
    input  logic [IndexWidth-1:0]   cmd_limit_value_i,
    input  logic [31:0]             cmd_arm_i,
    // step 8
    input  logic [QW-1:0]           take_queue_i,
    output logic [1:0]              take_state_o,
    output logic [IndexWidth-1:0]   take_head_o,
    output logic [IndexWidth-1:0]   take_fetch_o,
    output logic [IndexWidth-1:0]   take_tail_o,
    output logic [PW-1:0]           take_place_o,
    output logic [Prefetch-1:0]     take_done_o,
    // what QUERY shows, for the command's answer and for debug
    input  logic [QW-1:0]           query_queue_i,
    output logic [1:0]              query_state_o,
    output logic [IndexWidth-1:0]   query_size_o,
    output logic [IndexWidth-1:0]   query_head_o,
    output logic [IndexWidth-1:0]   query_fetch_o,
    output logic [IndexWidth-1:0]   query_tail_o,
    output logic [IndexWidth-1:0]   query_limit_o,
    input  logic [QW-1:0]           debug_queue_i,
    output logic [1:0]              debug_state_o,
    output logic [IndexWidth-1:0]   debug_size_o,
    output logic [IndexWidth-1:0]   debug_head_o,
    output logic [IndexWidth-1:0]   debug_fetch_o,
    output logic [IndexWidth-1:0]   debug_tail_o,
    output logic [IndexWidth-1:0]   debug_limit_o
);

  logic [Queues-1:0]       live_q;      // not INVALID
  logic [Queues-1:0]       fetching_q;  // requests_q /= 0
  logic [Queues-1:0]       stocked_q;   // stored_q /= 0
  logic [1:0]              state_q    [0:Queues-1];
  logic [AddressWidth-1:0] base_q     [0:Queues-1];
  logic [2:0]              stride_q   [0:Queues-1];
  logic [IndexWidth-1:0]   size_q     [0:Queues-1];
  logic [IndexWidth-1:0]   head_q     [0:Queues-1];
  logic [IndexWidth-1:0]   fetch_q    [0:Queues-1];
  logic [IndexWidth-1:0]   tail_q     [0:Queues-1];
  logic [IndexWidth-1:0]   limit_q    [0:Queues-1];
  logic [31:0]             arm_q      [0:Queues-1];
  logic [PW-1:0]           place_q    [0:Queues-1];  // place of slot tail, 0..Prefetch-1
  logic [Prefetch-1:0]     done_q     [0:Queues-1];  // places that hold a complete WQE
  logic [7:0]              stored_q   [0:Queues-1];  // how many they are
  logic [6:0]              requests_q [0:Queues-1];  // outstanding, while READY or PAUSED

  assign freed_state_o = live_q[freed_queue_i] ? state_q[freed_queue_i] : 2'd0;
  assign freed_size_o  = size_q[freed_queue_i];
  assign freed_head_o  = head_q[freed_queue_i];
  assign freed_fetch_o = fetch_q[freed_queue_i];
  assign freed_tail_o  = tail_q[freed_queue_i];
  assign freed_place_o = place_q[freed_queue_i];
  assign freed_done_o  = done_q[freed_queue_i];

  assign judge_state_o  = live_q[judge_queue_i] ? state_q[judge_queue_i] : 2'd0;
  assign judge_stride_o = stride_q[judge_queue_i];
  assign judge_size_o   = size_q[judge_queue_i];
  assign judge_head_o   = head_q[judge_queue_i];
  assign judge_fetch_o  = fetch_q[judge_queue_i];
  assign judge_tail_o   = tail_q[judge_queue_i];
  assign judge_limit_o  = limit_q[judge_queue_i];
  assign judge_arm_o    = arm_q[judge_queue_i];
  assign judge_place_o  = place_q[judge_queue_i];
  assign judge_done_o   = done_q[judge_queue_i];

  assign fetch_state_o  = live_q[fetch_queue_i] ? state_q[fetch_queue_i] : 2'd0;
  assign fetch_base_o   = base_q[fetch_queue_i];
  assign fetch_stride_o = stride_q[fetch_queue_i];
  assign fetch_size_o   = size_q[fetch_queue_i];
  assign fetch_head_o   = head_q[fetch_queue_i];
  assign fetch_fetch_o  = fetch_q[fetch_queue_i];
  assign fetch_tail_o   = tail_q[fetch_queue_i];
  assign fetch_place_o  = place_q[fetch_queue_i];

  assign fetching_o      = fetching_q;
  assign stocked_o       = stocked_q;
  assign victim_stored_o = stored_q[victim_i];
  assign victim_stride_o = stride_q[victim_i];

  assign beat_state_o  = live_q[beat_queue_i] ? state_q[beat_queue_i] : 2'd0;
  assign beat_size_o   = size_q[beat_queue_i];
  assign beat_head_o   = head_q[beat_queue_i];
  assign beat_fetch_o  = fetch_q[beat_queue_i];
  assign beat_tail_o   = tail_q[beat_queue_i];
  assign beat_place_o  = place_q[beat_queue_i];
  assign beat_done_o   = done_q[beat_queue_i];

  assign bell_state_o  = live_q[bell_queue_i] ? state_q[bell_queue_i] : 2'd0;
  assign bell_stride_o = stride_q[bell_queue_i];
  assign bell_size_o   = size_q[bell_queue_i];
  assign bell_head_o   = head_q[bell_queue_i];
  assign bell_fetch_o  = fetch_q[bell_queue_i];
  assign bell_tail_o   = tail_q[bell_queue_i];
  assign bell_place_o  = place_q[bell_queue_i];
  assign bell_done_o   = done_q[bell_queue_i];

  assign cmd_state_o  = live_q[cmd_queue_i] ? state_q[cmd_queue_i] : 2'd0;
  assign cmd_stride_o = stride_q[cmd_queue_i];
  assign cmd_head_o   = head_q[cmd_queue_i];
  assign cmd_fetch_o  = fetch_q[cmd_queue_i];
  assign cmd_tail_o   = tail_q[cmd_queue_i];
  assign cmd_place_o  = place_q[cmd_queue_i];
  assign cmd_done_o   = done_q[cmd_queue_i];

  assign take_state_o = live_q[take_queue_i] ? state_q[take_queue_i] : 2'd0;
  assign take_head_o  = head_q[take_queue_i];
  assign take_fetch_o = fetch_q[take_queue_i];
  assign take_tail_o  = tail_q[take_queue_i];
  assign take_place_o = place_q[take_queue_i];
  assign take_done_o  = done_q[take_queue_i];

  assign query_state_o = live_q[query_queue_i] ? state_q[query_queue_i] : 2'd0;
  assign query_size_o  = live_q[query_queue_i] ? size_q[query_queue_i] : '0;
  assign query_head_o  = live_q[query_queue_i] ? head_q[query_queue_i] : '0;
  assign query_fetch_o = live_q[query_queue_i] ? fetch_q[query_queue_i] : '0;
  assign query_tail_o  = live_q[query_queue_i] ? tail_q[query_queue_i] : '0;
  assign query_limit_o = live_q[query_queue_i] ? limit_q[query_queue_i] : '0;

  assign debug_state_o = live_q[debug_queue_i] ? state_q[debug_queue_i] : 2'd0;
  assign debug_size_o  = live_q[debug_queue_i] ? size_q[debug_queue_i] : '0;
  assign debug_head_o  = live_q[debug_queue_i] ? head_q[debug_queue_i] : '0;
  assign debug_fetch_o = live_q[debug_queue_i] ? fetch_q[debug_queue_i] : '0;
  assign debug_tail_o  = live_q[debug_queue_i] ? tail_q[debug_queue_i] : '0;
  assign debug_limit_o = live_q[debug_queue_i] ? limit_q[debug_queue_i] : '0;

  // Complete WQEs of the queues of steps 5 to 7, each after the steps before it.
  assign beat_stored_o = stored_q[beat_queue_i] -
                         8'(consume_i && judge_queue_i == beat_queue_i);
  always_comb begin
    bell_stored_o = stored_q[bell_queue_i] - 8'(consume_i && judge_queue_i == bell_queue_i);
    if (beat_queue_i == bell_queue_i) bell_stored_o = bell_stored_o + 8'(beat_count_i);
    if ((evict_i && victim_i == bell_queue_i) || (beat_fail_i && beat_queue_i == bell_queue_i))
      bell_stored_o = '0;
  end
  always_comb begin
    cmd_stored_o = stored_q[cmd_queue_i] - 8'(consume_i && judge_queue_i == cmd_queue_i);
    if (beat_queue_i == cmd_queue_i) cmd_stored_o = cmd_stored_o + 8'(beat_count_i);
    if ((evict_i && victim_i == cmd_queue_i) || (beat_fail_i && beat_queue_i == cmd_queue_i) ||
        (bell_leave_i && bell_queue_i == cmd_queue_i) || !live_q[cmd_queue_i])
      cmd_stored_o = '0;
  end

  // The done bits of judging's and the beat's queue.
  logic [Prefetch-1:0] consumed_bit, judge_done, beat_done;

  always_comb begin
    consumed_bit = '0;
    consumed_bit[judge_place_o] = consume_i;
  end
  assign judge_done = judge_done_o & ~consumed_bit;
  assign beat_done  = (judge_queue_i == beat_queue_i ? judge_done : beat_done_o) | beat_done_i;

  // Tails after the cycle's judging, for the queues that fall back to them.
  logic [IndexWidth-1:0] beat_tail, bell_tail, cmd_tail;

  assign beat_tail = consume_i && judge_queue_i == beat_queue_i ? judge_tail_i : beat_tail_o;
  assign bell_tail = consume_i && judge_queue_i == bell_queue_i ? judge_tail_i : bell_tail_o;
  assign cmd_tail  = consume_i && judge_queue_i == cmd_queue_i ? judge_tail_i : cmd_tail_o;

  // Requests outstanding.
  logic       fetch_end_same;
  logic [6:0] end_requests;

  assign fetch_end_same = fetch_go_i && request_end_i && fetch_queue_i == beat_queue_i;
  assign end_requests   = requests_q[beat_queue_i] - 7'd1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      live_q     <= '0;
      fetching_q <= '0;
      stocked_q  <= '0;
    end else begin
      if (cmd_set_state_i)
        live_q[cmd_queue_i] <= cmd_state_i != receive_queue_pkg::StateInvalid;
      if (request_end_i && end_requests == '0) fetching_q[beat_queue_i] <= 1'b0;
      if (fetch_go_i) fetching_q[fetch_queue_i] <= 1'b1;
      if (cmd_init_i) fetching_q[cmd_queue_i] <= 1'b0;
      if (consume_i && stored_q[judge_queue_i] == 8'd1) stocked_q[judge_queue_i] <= 1'b0;
      if (evict_i) stocked_q[victim_i] <= 1'b0;
      if (beat_count_i != 2'd0) stocked_q[beat_queue_i] <= 1'b1;
      if (beat_fail_i) stocked_q[beat_queue_i] <= 1'b0;
      if (bell_leave_i) stocked_q[bell_queue_i] <= 1'b0;
      if (cmd_leave_i || cmd_init_i) stocked_q[cmd_queue_i] <= 1'b0;
    end
  end

  // In the order of the steps: a later one wins.
  always_ff @(posedge clk_i) begin
    if (beat_fail_i) state_q[beat_queue_i] <= receive_queue_pkg::StateError;
    if (bell_leave_i) state_q[bell_queue_i] <= receive_queue_pkg::StateError;
    if (cmd_set_state_i) state_q[cmd_queue_i] <= cmd_state_i;
  end

  always_ff @(posedge clk_i) begin
    if (cmd_load_i) begin
      base_q[cmd_queue_i] <= cmd_base_i;
      size_q[cmd_queue_i] <= cmd_size_i;
    end
    if (cmd_init_i) stride_q[cmd_queue_i] <= cmd_stride_i;
    if (cmd_limit_i) arm_q[cmd_queue_i] <= cmd_arm_i;
  end

  always_ff @(posedge clk_i) begin
    if (bell_move_i) head_q[bell_queue_i] <= bell_head_i;
    if (cmd_load_i) head_q[cmd_queue_i] <= cmd_head_i;
  end

  always_ff @(posedge clk_i) begin
    if (fetch_go_i) fetch_q[fetch_queue_i] <= fetch_next_i;
    if (evict_i) fetch_q[victim_i] <= tail_q[victim_i];
    if (beat_fail_i) fetch_q[beat_queue_i] <= beat_tail;
    if (bell_leave_i) fetch_q[bell_queue_i] <= bell_tail;
    if (cmd_leave_i) fetch_q[cmd_queue_i] <= cmd_tail;
    if (cmd_load_i) fetch_q[cmd_queue_i] <= cmd_tail_i;
  end

  always_ff @(posedge clk_i) begin
    if (consume_i) begin
      tail_q[judge_queue_i]  <= judge_tail_i;
      place_q[judge_queue_i] <= judge_place_i;
    end
    if (cmd_load_i) tail_q[cmd_queue_i] <= cmd_tail_i;
    if (cmd_init_i) place_q[cmd_queue_i] <= '0;
  end

  always_ff @(posedge clk_i) begin
    if (disarm_i) limit_q[judge_queue_i] <= '0;
    if (cmd_limit_i) limit_q[cmd_queue_i] <= cmd_limit_value_i;
  end

  always_ff @(posedge clk_i) begin
    if (consume_i) begin
      done_q[judge_queue_i]   <= judge_done;
      stored_q[judge_queue_i] <= stored_q[judge_queue_i] - 8'd1;
    end
    if (evict_i) begin
      done_q[victim_i]   <= '0;
      stored_q[victim_i] <= '0;
    end
    if (beat_count_i != 2'd0) begin
      done_q[beat_queue_i]   <= beat_done;
      stored_q[beat_queue_i] <= beat_stored_o + 8'(beat_count_i);
    end
    if (beat_fail_i) begin
      done_q[beat_queue_i]   <= '0;
      stored_q[beat_queue_i] <= '0;
    end
    if (bell_leave_i) begin
      done_q[bell_queue_i]   <= '0;
      stored_q[bell_queue_i] <= '0;
    end
    if (cmd_leave_i || cmd_init_i) begin
      done_q[cmd_queue_i]   <= '0;
      stored_q[cmd_queue_i] <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (fetch_go_i && !fetch_end_same)
      requests_q[fetch_queue_i] <= requests_q[fetch_queue_i] + 7'd1;
    if (request_end_i && !fetch_end_same) requests_q[beat_queue_i] <= end_requests;
    if (cmd_init_i) requests_q[cmd_queue_i] <= '0;
  end

endmodule
