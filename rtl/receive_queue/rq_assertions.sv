// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// The rules of the receive-queue unit as assertions, named after the rule they are of. The module
// keeps its own view of every queue, from what the steps do, and compares. Not for synthesis.
`ifndef YOSYS
module rq_assertions #(
    parameter int unsigned Queues = 64,
    parameter int unsigned Takes = 16,
    parameter int unsigned Prefetch = 8,
    parameter int unsigned Tags = 32,
    parameter int unsigned FetchBytes = 512,
    parameter int unsigned Lines = 64,
    parameter int unsigned AddressWidth = 64,
    parameter int unsigned IndexWidth = 16,
    parameter int unsigned QW = 6,
    parameter int unsigned TW = 4,
    parameter int unsigned GW = 5,
    // Rule 8: most cycles from a request to its last beat, with every output accepted at once and
    // no queue PAUSED; 0 when that is not so, and nothing is bounded then.
    parameter int unsigned BoundDmaCycles = 0
) (
    input logic                         clk_i,
    input logic                         rst_ni,
    // step 2
    input logic                         judged_i,
    input logic [TW-1:0]                judge_id_i,     // entry of the wait table
    input logic                         judge_known_i,
    input logic [QW-1:0]                judge_queue_i,
    input logic                         peek_i,
    input logic [2:0]                   status_i,
    input logic                         consume_i,
    input logic                         fires_i,
    input logic [IndexWidth-1:0]        slot_i,
    input logic [IndexWidth-1:0]        remaining_i,
    input logic                         found_i,
    input logic                         out_free_i,
    input logic                         event_free_i,
    input logic                         bell_event_i,
    // step 3
    input logic                         fetch_go_i,
    input logic                         needy_i,
    input logic [QW-1:0]                fetch_queue_i,
    input logic [IndexWidth-1:0]        fetch_first_i,
    input logic [7:0]                   slots_i,
    input logic [7:0]                   fetched_i,
    input logic                         fetch_holds_i,
    input logic [2:0]                   fetch_stride_i,
    input logic [AddressWidth-1:0]      address_i,
    input logic [12:0]                  bytes_i,
    input logic [GW-1:0]                tag_i,
    input logic [Tags-1:0]              tags_used_i,
    input logic [$clog2(Lines+1)-1:0]   lines_free_i,
    input logic [Lines-1:0]             lines_used_i,
    input logic                         evict_i,
    input logic [QW-1:0]                victim_i,
    input logic [Queues-1:0]            waits_i,
    input logic [Queues-1:0]            fetching_i,
    input logic                         holds_i,
    input logic [QW-1:0]                holds_queue_i,
    // steps 4 and 5
    input logic                         failed_enters_i,
    input logic                         beat_fail_i,
    input logic                         beat_end_i,
    input logic                         store_i,
    input logic [GW-1:0]                beat_tag_i,
    input logic [QW-1:0]                beat_queue_i,
    // step 6
    input logic                         bell_item_i,
    input logic                         bell_bad_i,
    input logic                         bell_taken_i,
    input logic                         bell_move_i,
    input logic                         bell_leave_i,
    input logic                         bell_known_i,
    input logic [QW-1:0]                bell_queue_i,
    input logic [IndexWidth-1:0]        bell_head_i,
    // step 7
    input logic                         cmd_init_i,
    input logic                         cmd_load_i,
    input logic                         cmd_set_state_i,
    input logic [1:0]                   cmd_state_i,
    input logic                         cmd_limit_i,
    input logic [QW-1:0]                cmd_queue_i,
    input logic [AddressWidth-1:0]      cmd_base_i,
    input logic [IndexWidth-1:0]        cmd_size_i,
    input logic [IndexWidth-1:0]        cmd_head_i,
    input logic [IndexWidth-1:0]        cmd_tail_i,
    input logic [IndexWidth-1:0]        cmd_limit_value_i,
    // step 8
    input logic                         take_i,
    input logic [TW-1:0]                take_id_i,
    input logic                         take_known_i,
    input logic [QW-1:0]                take_queue_i,
    input logic                         take_bad_i,
    input logic                         take_flushed_i,
    // outputs
    input logic                         answer_done_i,
    input logic                         valid_input_i,  // on any port
    input logic                         quiet_output_i, // no output is valid
    input logic                         idle_i
);

  localparam int unsigned LinesWidth = $clog2(Lines + 1);

  // Our own view of a queue. posted is counted, not taken from indices.
  logic [Queues-1:0]     live_q;
  logic [1:0]            state_q    [0:Queues-1];
  logic [AddressWidth-1:0] base_q   [0:Queues-1];
  logic [IndexWidth-1:0] size_q     [0:Queues-1];
  logic [IndexWidth-1:0] head_q     [0:Queues-1];
  logic [IndexWidth-1:0] next_q     [0:Queues-1];  // slot that is due
  logic [IndexWidth-1:0] posted_q   [0:Queues-1];
  logic [IndexWidth-1:0] limit_q    [0:Queues-1];  // 0 once it has fired
  logic [6:0]            requests_q [0:Queues-1];
  logic [31:0]           life_q     [0:Queues-1];
  logic [31:0]           tag_life_q [0:Tags-1];
  logic [31:0]           number_q   [0:Takes-1];   // of the takes in the wait table, as accepted
  logic [31:0]           last_q     [0:Queues-1];  // of the TAKE of a queue that was judged last
  logic [Queues-1:0]     judged_q;                 // there was one
  logic [31:0]           cycle_q, takes_q, events_q;
  logic [6:0]            outstanding_q, failures_q;
  logic                  idle_q;

  logic [IndexWidth-1:0] added;
  logic [1:0]            judge_state, bell_state, take_state;
  logic [16:0]           page_end;
  logic [AddressWidth-1:0] ring_bytes, offset;
  logic                  fetch_end, bell_follows;
  logic [1:0]            per_slot_log;
  logic [31:0]           younger;

  assign added       = bell_head_i >= head_q[bell_queue_i]
                           ? bell_head_i - head_q[bell_queue_i]
                           : bell_head_i - head_q[bell_queue_i] + size_q[bell_queue_i];
  assign judge_state = live_q[judge_queue_i] ? state_q[judge_queue_i] : 2'd0;
  always_comb begin
    bell_state = live_q[bell_queue_i] ? state_q[bell_queue_i] : 2'd0;
    if (beat_fail_i && beat_queue_i == bell_queue_i) bell_state = receive_queue_pkg::StateError;
  end
  always_comb begin
    take_state = live_q[take_queue_i] ? state_q[take_queue_i] : 2'd0;
    if ((beat_fail_i && beat_queue_i == take_queue_i) ||
        (bell_leave_i && bell_queue_i == take_queue_i))
      take_state = receive_queue_pkg::StateError;
    if (cmd_set_state_i && cmd_queue_i == take_queue_i) take_state = cmd_state_i;
  end
  assign per_slot_log = fetch_stride_i == 3'd0 ? 2'd0 : 2'(fetch_stride_i - 3'd1);
  assign page_end     = 17'(address_i[11:0]) + 17'(bytes_i);
  assign ring_bytes   = AddressWidth'(size_q[fetch_queue_i]) << (4'(fetch_stride_i) + 4'd5);
  assign offset       = address_i - base_q[fetch_queue_i];
  assign fetch_end    = fetch_go_i && (beat_end_i || beat_fail_i) && fetch_queue_i == beat_queue_i;
  assign bell_follows = consume_i && judge_queue_i == bell_queue_i;
  assign younger      = number_q[judge_id_i] - last_q[judge_queue_i];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      live_q        <= '0;
      outstanding_q <= '0;
      failures_q    <= '0;
      idle_q        <= 1'b0;
      judged_q      <= '0;
      cycle_q       <= '0;
      takes_q       <= '0;
      events_q      <= '0;
    end else begin
      cycle_q  <= cycle_q + 32'd1;
      takes_q  <= takes_q + 32'(take_i);
      events_q <= events_q + 32'(failed_enters_i) + 32'(bell_event_i);
      if (judged_i && judge_known_i && !peek_i) judged_q[judge_queue_i] <= 1'b1;
      if (cmd_set_state_i) live_q[cmd_queue_i] <= cmd_state_i != receive_queue_pkg::StateInvalid;
      outstanding_q <= outstanding_q + 7'(take_i) - 7'(answer_done_i);
      failures_q    <= failures_q + 7'(beat_fail_i) - 7'(failed_enters_i);
      idle_q        <= idle_i && !valid_input_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (beat_fail_i) state_q[beat_queue_i] <= receive_queue_pkg::StateError;
    if (bell_leave_i) state_q[bell_queue_i] <= receive_queue_pkg::StateError;
    if (cmd_set_state_i) state_q[cmd_queue_i] <= cmd_state_i;
    if (consume_i) begin
      next_q[judge_queue_i]   <= next_q[judge_queue_i] + 1 == size_q[judge_queue_i]
                                     ? '0 : next_q[judge_queue_i] + IndexWidth'(1);
      posted_q[judge_queue_i] <= posted_q[judge_queue_i] - IndexWidth'(1);
    end
    if (fires_i) limit_q[judge_queue_i] <= '0;
    if (bell_move_i) begin
      head_q[bell_queue_i]   <= bell_head_i;
      posted_q[bell_queue_i] <= posted_q[bell_queue_i] + added - IndexWidth'(bell_follows);
    end
    if (cmd_load_i) begin
      base_q[cmd_queue_i]   <= cmd_base_i;
      size_q[cmd_queue_i]   <= cmd_size_i;
      head_q[cmd_queue_i]   <= cmd_head_i;
      next_q[cmd_queue_i]   <= cmd_tail_i;
      posted_q[cmd_queue_i] <= cmd_head_i >= cmd_tail_i ? cmd_head_i - cmd_tail_i
                                                        : cmd_head_i - cmd_tail_i + cmd_size_i;
    end
    if (cmd_limit_i) limit_q[cmd_queue_i] <= cmd_limit_value_i;
  end

  // Requests and lives.
  always_ff @(posedge clk_i) begin
    if (fetch_go_i && !fetch_end)
      requests_q[fetch_queue_i] <= requests_q[fetch_queue_i] + 7'd1;
    if (beat_end_i && !fetch_end) requests_q[beat_queue_i] <= requests_q[beat_queue_i] - 7'd1;
    if (cmd_init_i) begin
      requests_q[cmd_queue_i] <= '0;
      life_q[cmd_queue_i]     <= life_q[cmd_queue_i] + 32'd1;
    end
    if (fetch_go_i) tag_life_q[tag_i] <= life_q[fetch_queue_i];
  end

  always_ff @(posedge clk_i) begin
    if (take_i) number_q[take_id_i] <= takes_q;
    if (judged_i && judge_known_i && !peek_i) last_q[judge_queue_i] <= number_q[judge_id_i];
  end

  // Nothing is checked in reset, when registers are anything.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
    end else begin
      if (consume_i) begin
        rule1_in_ring_order: assert (slot_i == next_q[judge_queue_i]);
        rule2_only_posted: assert (posted_q[judge_queue_i] != '0);
        rule4_remaining: assert (remaining_i == posted_q[judge_queue_i] - IndexWidth'(1));
        rule4_limit: assert (fires_i == (limit_q[judge_queue_i] > remaining_i));
        rule7_delivers_when_ready: assert (judge_state == receive_queue_pkg::StateReady);
      end
      if (judged_i) begin
        rule3_empty: assert (status_i != receive_queue_pkg::TakeEmpty ||
                             posted_q[judge_queue_i] == '0);
        rule3_peek: assert (!peek_i || !(consume_i || fires_i));
        rule3_ok_consumes: assert (peek_i || consume_i == (status_i == receive_queue_pkg::TakeOk));
        rule4_fires_with_ok: assert (!fires_i || consume_i);
        rule7_flushed_or_bad: assert (
            judge_state != receive_queue_pkg::StateError || !judge_known_i ||
            (status_i != receive_queue_pkg::TakeOk && status_i != receive_queue_pkg::TakeEmpty));
      end
      if (judged_i && judge_known_i && !peek_i && judged_q[judge_queue_i]) begin
        rule3_takes_in_order: assert (younger != '0 && !younger[31]);
      end
      rule3_takes_bounded: assert (outstanding_q <= 7'(Takes));
      if (take_i) begin
        rule3_bad_queue: assert (take_bad_i == (!take_known_i ||
                                                take_state == receive_queue_pkg::StateInvalid));
        rule7_take_flushed: assert (take_bad_i ||
            take_flushed_i == (take_state == receive_queue_pkg::StateError));
      end
      if (fetch_go_i) begin
        rule2_within_posted: assert (IndexWidth'(fetched_i) + IndexWidth'(slots_i) <=
                                     posted_q[fetch_queue_i]);
        // In few bits of address a ring may go on at 0.
        rule2_within_ring: assert ((AddressWidth + 1)'(offset) + (AddressWidth + 1)'(bytes_i) <=
                                   (AddressWidth + 1)'(ring_bytes));
        rule7_fetches_when_ready: assert (live_q[fetch_queue_i] &&
            state_q[fetch_queue_i] == receive_queue_pkg::StateReady);
        rule9_some_slots: assert (slots_i != '0 && bytes_i <= 13'(FetchBytes));
        rule9_within_page: assert (page_end <= 17'd4096);
        rule9_within_ring: assert (17'(fetch_first_i) + 17'(slots_i) <=
                                   17'(size_q[fetch_queue_i]));
        rule9_prefetch: assert (9'(fetched_i) + 9'(slots_i) + 9'(fetch_holds_i) <= 9'(Prefetch));
        rule9_lowest_tag: assert (!tags_used_i[tag_i] &&
                                  (~tags_used_i & ((Tags'(1) << tag_i) - Tags'(1))) == '0);
        rule9_lines: assert ((17'(slots_i) << per_slot_log) <= 17'(lines_free_i));
      end
      rule9_lines_counted: assert (lines_free_i <= LinesWidth'(Lines));
      if (store_i) begin
        rule9_line_reserved: assert (!(&lines_used_i) && lines_free_i != LinesWidth'(Lines));
        rule11_of_this_life: assert (tag_life_q[beat_tag_i] == life_q[beat_queue_i]);
        rule7_stores_when_ready: assert (live_q[beat_queue_i] &&
            state_q[beat_queue_i] == receive_queue_pkg::StateReady);
      end
      if (cmd_load_i) begin
        rule11_starts_quiet: assert (!live_q[cmd_queue_i] || requests_q[cmd_queue_i] == '0);
      end
      if (bell_move_i) begin
        rule5_head_advances: assert (bell_head_i < size_q[bell_queue_i] &&
            added > '0 && 17'(added) + 17'(posted_q[bell_queue_i]) - 17'(bell_follows) <
                17'(size_q[bell_queue_i]));
        rule5_moves_when_ready: assert (bell_state == receive_queue_pkg::StateReady);
      end
      if (bell_taken_i) begin
        rule5_bad_is_told: assert (bell_bad_i == bell_event_i);
        rule5_bad_leaves: assert (!bell_bad_i || bell_leave_i ||
                                  bell_state == receive_queue_pkg::StateInvalid || !bell_known_i);
        rule5_error_is_deaf: assert (!bell_known_i ||
            bell_state != receive_queue_pkg::StateError || !(bell_move_i || bell_event_i));
      end
      if (beat_fail_i) begin
        rule6_fails_when_ready: assert (live_q[beat_queue_i] &&
            state_q[beat_queue_i] == receive_queue_pkg::StateReady);
      end
      if (failed_enters_i) rule6_once: assert (failures_q != '0);
      if (evict_i) begin
        rule10_only_needy: assert (needy_i && lines_free_i < LinesWidth'(8));
        rule10_victim: assert (!waits_i[victim_i] && !fetching_i[victim_i] &&
                               !(holds_i && holds_queue_i == victim_i) && live_q[victim_i] &&
                               state_q[victim_i] == receive_queue_pkg::StateReady);
      end
      if (found_i && out_free_i && event_free_i && !bell_event_i) begin
        rule12_judges: assert (judged_i);
      end
      if (bell_item_i && !bell_bad_i) rule12_doorbell: assert (bell_taken_i);
      if (idle_q) idle_stays: assert (idle_i && quiet_output_i);
    end
  end

  // Rule 8: how long takes wait. 8 is the beats of the largest WQE.
  if (BoundDmaCycles != 0) begin : gen_bound
    localparam int unsigned MostCycles =
        Takes * (2 * BoundDmaCycles + 8 * (Takes * 8 + 1) + Takes * 8 + 8);
    logic [31:0] accepted_q [0:Takes-1];
    logic [31:0] before_q   [0:Takes-1];  // events before the take

    always_ff @(posedge clk_i) begin
      if (take_i) begin
        accepted_q[take_id_i] <= cycle_q;
        before_q[take_id_i]   <= events_q;
      end
    end
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
      end else if (judged_i) begin
        rule8_bound: assert (cycle_q - accepted_q[judge_id_i] <=
                             MostCycles + 2 * (events_q - before_q[judge_id_i]));
      end
    end
  end else begin : gen_no_bound
    logic unused_bound;
    assign unused_bound = ^{cycle_q, events_q};
  end

endmodule
`endif
