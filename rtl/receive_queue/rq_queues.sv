// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// All queues: their registers, what each step sees of them, which of them may fetch after a step, and
// what their oldest waiting TAKE can expect in the next cycle.
module rq_queues #(
    parameter int unsigned Queues = 64,
    parameter int unsigned Prefetch = 8,
    parameter int unsigned AddressWidth = 64,
    parameter int unsigned IndexWidth = 16,
    parameter int unsigned QW = 6,
    parameter int unsigned PW = 3
) (
    input  logic                          clk_i,
    input  logic                          rst_ni,
    // step 1: the last beat of a WQE is accepted; the take_rsp register before and after step 2
    input  logic                          freed_i,
    input  logic [QW-1:0]                 freed_queue_i,
    input  logic                          holds_i,
    input  logic                          holds_next_i,
    input  logic [QW-1:0]                 holds_next_queue_i,
    output logic                          freed_pending_o,
    output logic                          freed_settled_o,
    output logic                          freed_needy_o,
    output logic                          enter1_o,           // eligible after the step
    // step 2, judging
    input  logic [QW-1:0]                 judge_queue_i,
    output logic [2:0]                    judge_stride_o,
    output logic [IndexWidth-1:0]         judge_size_o,
    output logic [IndexWidth-1:0]         judge_head_o,
    output logic [IndexWidth-1:0]         judge_tail_o,
    output logic [IndexWidth-1:0]         judge_limit_o,
    output logic [31:0]                   judge_arm_o,
    output logic [PW-1:0]                 judge_place_o,
    input  logic                          judged_i,
    input  logic                          tentative_i,        // would consume, if the doorbell is not bad
    input  logic                          consume_i,
    input  logic [IndexWidth-1:0]         judge_tail_i,       // tail and its place after that
    input  logic [PW-1:0]                 judge_place_i,
    input  logic                          disarm_i,
    output logic                          judge_pending_o,
    output logic                          judge_settled_o,
    output logic                          judge_needy_o,
    // step 3, fetch stage
    input  logic [QW-1:0]                 fetch_queue_i,
    output logic [1:0]                    fetch_state_o,
    output logic [AddressWidth-1:0]       fetch_base_o,
    output logic [2:0]                    fetch_stride_o,
    output logic [IndexWidth-1:0]         fetch_size_o,
    output logic [IndexWidth-1:0]         fetch_head_o,
    output logic [IndexWidth-1:0]         fetch_fetch_o,
    output logic [IndexWidth-1:0]         fetch_tail_o,
    output logic [PW-1:0]                 fetch_place_o,
    output logic                          fetch_holds_o,      // its WQE is in the take_rsp register
    output logic [Queues-1:0]             fetching_o,
    output logic [Queues-1:0]             stocked_o,
    input  logic                          fetch_go_i,
    input  logic [IndexWidth-1:0]         fetch_next_i,
    input  logic [7:0]                    fetch_after_i,      // fetch - tail after it, before judging
    input  logic                          drop_i,
    input  logic                          evict_i,
    input  logic [QW-1:0]                 victim_i,
    output logic [7:0]                    victim_stored_o,    // complete WQEs
    output logic [2:0]                    victim_stride_o,
    output logic                          enter2_o,
    output logic [QW-1:0]                 enter2_queue_o,
    // step 5, dma_rsp
    input  logic [QW-1:0]                 beat_queue_i,
    output logic                          beat_ready_o,
    output logic [IndexWidth-1:0]         beat_size_o,
    output logic [IndexWidth-1:0]         beat_tail_o,        // after step 2
    output logic [PW-1:0]                 beat_tail_place_o,
    output logic                          beat_tail_done_o,
    output logic [7:0]                    beat_stored_o,
    input  logic [1:0]                    beat_count_i,
    input  logic [Prefetch-1:0]           beat_done_i,
    input  logic                          beat_fail_i,
    input  logic                          request_end_i,
    output logic                          beat_pending_o,
    output logic                          beat_settled_o,
    output logic                          beat_needy_o,
    // step 6, doorbell
    input  logic [QW-1:0]                 bell_queue_i,
    output logic [1:0]                    bell_state_o,       // after step 5
    output logic [2:0]                    bell_stride_o,
    output logic [IndexWidth-1:0]         bell_size_o,
    output logic [IndexWidth-1:0]         bell_head_o,
    output logic [IndexWidth-1:0]         bell_tail_o,        // as if the take were judged
    output logic [7:0]                    bell_stored_o,
    input  logic                          bell_move_i,
    input  logic [IndexWidth-1:0]         bell_head_i,
    input  logic                          bell_leave_i,
    output logic                          bell_pending_o,
    output logic                          bell_settled_o,
    output logic                          bell_needy_o,
    output logic                          enter3_o,
    // step 7, command
    input  logic [QW-1:0]                 cmd_queue_i,
    output logic [1:0]                    cmd_state_o,        // after step 6
    output logic [2:0]                    cmd_stride_o,
    output logic [7:0]                    cmd_stored_o,
    input  logic                          cmd_set_state_i,
    input  logic [1:0]                    cmd_state_i,
    input  logic                          cmd_leave_i,
    input  logic                          cmd_init_i,
    input  logic                          cmd_load_i,
    input  logic                          cmd_limit_i,
    input  logic [AddressWidth-1:0]       cmd_base_i,
    input  logic [2:0]                    cmd_stride_i,
    input  logic [IndexWidth-1:0]         cmd_size_i,
    input  logic [IndexWidth-1:0]         cmd_head_i,
    input  logic [IndexWidth-1:0]         cmd_tail_i,
    input  logic [IndexWidth-1:0]         cmd_limit_value_i,
    input  logic [31:0]                   cmd_arm_i,
    output logic                          cmd_pending_o,
    output logic                          cmd_settled_o,
    output logic                          cmd_needy_o,
    output logic                          enter4_o,
    // step 8
    input  logic                          take_i,
    input  logic [QW-1:0]                 take_queue_i,
    output logic [1:0]                    take_state_o,       // after step 7
    output logic                          take_pending_o,
    output logic                          take_settled_o,
    output logic                          take_needy_o,
    // what QUERY shows, for the answer of a command and for debug
    input  logic [QW-1:0]                 query_queue_i,
    output logic [1:0]                    query_state_o,
    output logic [IndexWidth-1:0]         query_size_o,
    output logic [IndexWidth-1:0]         query_head_o,
    output logic [IndexWidth-1:0]         query_fetch_o,
    output logic [IndexWidth-1:0]         query_tail_o,
    output logic [IndexWidth-1:0]         query_limit_o,
    input  logic [QW-1:0]                 debug_queue_i,
    output logic [1:0]                    debug_state_o,
    output logic [IndexWidth-1:0]         debug_size_o,
    output logic [IndexWidth-1:0]         debug_head_o,
    output logic [IndexWidth-1:0]         debug_fetch_o,
    output logic [IndexWidth-1:0]         debug_tail_o,
    output logic [IndexWidth-1:0]         debug_limit_o
);

  // Registers at the start of the cycle.
  logic [1:0]                freed_state, judge_state, beat_state, bell_state, cmd_state, take_state;
  logic [IndexWidth-1:0]     freed_size, freed_head, freed_fetch, freed_tail, judge_fetch,
                             beat_head, beat_fetch, beat_tail, bell_fetch, bell_tail, cmd_head,
                             cmd_fetch, cmd_tail, take_head, take_fetch, take_tail;
  logic [PW-1:0]             freed_place, beat_place, bell_place, cmd_place, take_place;
  logic [Prefetch-1:0]       freed_done, judge_done, beat_done, bell_done, cmd_done, take_done;

  rq_queue_file #(
      .Queues(Queues), .Prefetch(Prefetch), .AddressWidth(AddressWidth),
      .IndexWidth(IndexWidth), .QW(QW), .PW(PW)
  ) u_file (
      .clk_i, .rst_ni, .freed_queue_i, .freed_state_o(freed_state), .freed_size_o(freed_size),
      .freed_head_o(freed_head), .freed_fetch_o(freed_fetch), .freed_tail_o(freed_tail),
      .freed_place_o(freed_place), .freed_done_o(freed_done), .judge_queue_i,
      .judge_state_o(judge_state), .judge_stride_o, .judge_size_o, .judge_head_o,
      .judge_fetch_o(judge_fetch), .judge_tail_o, .judge_limit_o, .judge_arm_o, .judge_place_o,
      .judge_done_o(judge_done), .consume_i, .judge_tail_i, .judge_place_i, .disarm_i,
      .fetch_queue_i, .fetch_state_o, .fetch_base_o, .fetch_stride_o, .fetch_size_o, .fetch_head_o,
      .fetch_fetch_o, .fetch_tail_o, .fetch_place_o, .fetch_go_i, .fetch_next_i, .fetching_o,
      .stocked_o, .evict_i, .victim_i, .victim_stored_o, .victim_stride_o, .beat_queue_i,
      .beat_state_o(beat_state), .beat_size_o, .beat_head_o(beat_head), .beat_fetch_o(beat_fetch),
      .beat_tail_o(beat_tail), .beat_place_o(beat_place), .beat_done_o(beat_done), .beat_stored_o,
      .beat_count_i, .beat_done_i, .beat_fail_i, .request_end_i, .bell_queue_i,
      .bell_state_o(bell_state), .bell_stride_o, .bell_size_o, .bell_head_o,
      .bell_fetch_o(bell_fetch), .bell_tail_o(bell_tail), .bell_place_o(bell_place),
      .bell_done_o(bell_done), .bell_stored_o, .bell_move_i, .bell_head_i, .bell_leave_i,
      .cmd_queue_i, .cmd_state_o(cmd_state), .cmd_stride_o, .cmd_head_o(cmd_head),
      .cmd_fetch_o(cmd_fetch), .cmd_tail_o(cmd_tail), .cmd_place_o(cmd_place),
      .cmd_done_o(cmd_done), .cmd_stored_o, .cmd_set_state_i, .cmd_state_i, .cmd_leave_i,
      .cmd_init_i, .cmd_load_i, .cmd_limit_i, .cmd_base_i, .cmd_stride_i, .cmd_size_i, .cmd_head_i,
      .cmd_tail_i, .cmd_limit_value_i, .cmd_arm_i, .take_queue_i, .take_state_o(take_state),
      .take_head_o(take_head), .take_fetch_o(take_fetch), .take_tail_o(take_tail),
      .take_place_o(take_place), .take_done_o(take_done), .query_queue_i, .query_state_o,
      .query_size_o, .query_head_o, .query_fetch_o, .query_tail_o, .query_limit_o, .debug_queue_i,
      .debug_state_o, .debug_size_o, .debug_head_o, .debug_fetch_o, .debug_tail_o, .debug_limit_o);

  // What the steps see after those before them.
  logic beat_judged, bell_judged, cmd_judged;

  assign beat_judged = judge_queue_i == beat_queue_i;
  assign bell_judged = judge_queue_i == bell_queue_i;
  assign cmd_judged  = judge_queue_i == cmd_queue_i;

  assign beat_ready_o     = beat_state == receive_queue_pkg::StateReady;
  assign beat_tail_o      = consume_i && beat_judged ? judge_tail_i : beat_tail;
  assign beat_tail_place_o = consume_i && beat_judged ? judge_place_i : beat_place;
  assign beat_tail_done_o = beat_done[beat_tail_place_o];

  assign bell_tail_o = tentative_i && bell_judged ? judge_tail_i : bell_tail;
  always_comb begin
    bell_state_o = bell_state;
    if (beat_fail_i && beat_queue_i == bell_queue_i)
      bell_state_o = receive_queue_pkg::StateError;
  end
  always_comb begin
    cmd_state_o = cmd_state;
    if ((beat_fail_i && beat_queue_i == cmd_queue_i) ||
        (bell_leave_i && bell_queue_i == cmd_queue_i))
      cmd_state_o = receive_queue_pkg::StateError;
  end

  // Queues that may fetch after a step; held is what counts against the prefetch depth.
  localparam int unsigned CW = 17;  // of counts of slots

  logic [CW-1:0] freed_held, fetch_held, bell_held;
  logic       bell_fetched, bell_evicted;
  logic [IndexWidth-1:0] fetch_now, bell_head_now, bell_fetch_now, bell_tail_now;
  logic [IndexWidth-1:0] freed_ahead, bell_ahead;

  assign freed_ahead = freed_fetch >= freed_tail ? freed_fetch - freed_tail
                                                 : freed_fetch - freed_tail + freed_size;
  assign freed_held = CW'(freed_ahead);
  assign enter1_o   = freed_i && freed_state == receive_queue_pkg::StateReady &&
                      freed_head != freed_fetch && freed_held < CW'(Prefetch);

  assign fetch_holds_o  = holds_i && freed_queue_i == fetch_queue_i;
  assign fetch_now      = fetch_go_i ? fetch_next_i : fetch_fetch_o;
  assign fetch_held     = CW'(fetch_after_i) -
                          CW'(consume_i && judge_queue_i == fetch_queue_i) +
                          CW'(holds_next_i && holds_next_queue_i == fetch_queue_i);
  assign enter2_queue_o = evict_i ? victim_i : fetch_queue_i;
  // The victim is READY, has posted slots, and now holds nothing.
  assign enter2_o       = evict_i || ((fetch_go_i || drop_i) && fetch_head_o != fetch_now &&
                                      fetch_state_o == receive_queue_pkg::StateReady &&
                                      fetch_held < CW'(Prefetch));

  assign bell_fetched   = fetch_go_i && fetch_queue_i == bell_queue_i;
  assign bell_evicted   = evict_i && victim_i == bell_queue_i;
  assign bell_head_now  = bell_move_i ? bell_head_i : bell_head_o;
  assign bell_tail_now  = consume_i && bell_judged ? judge_tail_i : bell_tail;
  always_comb begin
    bell_fetch_now = bell_fetch;
    if (bell_fetched) bell_fetch_now = fetch_next_i;
    if (bell_evicted) bell_fetch_now = bell_tail_now;
  end
  assign bell_ahead = bell_fetch_now >= bell_tail_now
                          ? bell_fetch_now - bell_tail_now
                          : bell_fetch_now - bell_tail_now + bell_size_o;
  assign bell_held = CW'(bell_ahead) +
                     CW'(holds_next_i && holds_next_queue_i == bell_queue_i);
  assign enter3_o  = bell_move_i && bell_head_now != bell_fetch_now &&
                     bell_held < CW'(Prefetch);

  if (Prefetch == 1) begin : gen_enter4
    assign enter4_o = cmd_load_i && cmd_head_i != cmd_tail_i &&
                      !(holds_next_i && holds_next_queue_i == cmd_queue_i);
  end else begin : gen_enter4
    assign enter4_o = cmd_load_i && cmd_head_i != cmd_tail_i;
  end

  // The queues of the steps after the cycle.
  logic [1:0] judge_state_next, beat_state_next, bell_state_next, cmd_state_next;

  rq_queue_view #(
      .Prefetch(Prefetch), .IndexWidth(IndexWidth), .QW(QW), .PW(PW)
  ) u_judge (
      .active_i(judged_i), .queue_i(judge_queue_i), .state_i(judge_state), .head_i(judge_head_o), .fetch_i(judge_fetch),
      .tail_i(judge_tail_o), .place_i(judge_place_o), .done_i(judge_done),
      .consume_i, .judge_queue_i, .judge_tail_i, .judge_place_i,
      .holds_i(holds_next_i), .holds_queue_i(holds_next_queue_i),
      .fetch_go_i, .fetch_queue_i, .fetch_next_i, .evict_i, .victim_i,
      .beat_queue_i, .beat_done_i, .beat_fail_i,
      .bell_queue_i, .bell_move_i, .bell_head_i, .bell_leave_i,
      .cmd_queue_i, .cmd_set_state_i, .cmd_state_i, .cmd_load_i, .cmd_head_i, .cmd_tail_i,
      .state_o(judge_state_next), .pending_o(judge_pending_o),
      .settled_o(judge_settled_o), .needy_o(judge_needy_o));
  rq_queue_view #(
      .Prefetch(Prefetch), .IndexWidth(IndexWidth), .QW(QW), .PW(PW)
  ) u_beat (
      .active_i(beat_count_i != 2'd0), .queue_i(beat_queue_i), .state_i(beat_state), .head_i(beat_head), .fetch_i(beat_fetch),
      .tail_i(beat_tail), .place_i(beat_place), .done_i(beat_done),
      .consume_i, .judge_queue_i, .judge_tail_i, .judge_place_i,
      .holds_i(holds_next_i), .holds_queue_i(holds_next_queue_i),
      .fetch_go_i, .fetch_queue_i, .fetch_next_i, .evict_i, .victim_i,
      .beat_queue_i, .beat_done_i, .beat_fail_i,
      .bell_queue_i, .bell_move_i, .bell_head_i, .bell_leave_i,
      .cmd_queue_i, .cmd_set_state_i, .cmd_state_i, .cmd_load_i, .cmd_head_i, .cmd_tail_i,
      .state_o(beat_state_next), .pending_o(beat_pending_o),
      .settled_o(beat_settled_o), .needy_o(beat_needy_o));
  rq_queue_view #(
      .Prefetch(Prefetch), .IndexWidth(IndexWidth), .QW(QW), .PW(PW)
  ) u_bell (
      .active_i(bell_move_i), .queue_i(bell_queue_i), .state_i(bell_state), .head_i(bell_head_o), .fetch_i(bell_fetch),
      .tail_i(bell_tail), .place_i(bell_place), .done_i(bell_done),
      .consume_i, .judge_queue_i, .judge_tail_i, .judge_place_i,
      .holds_i(holds_next_i), .holds_queue_i(holds_next_queue_i),
      .fetch_go_i, .fetch_queue_i, .fetch_next_i, .evict_i, .victim_i,
      .beat_queue_i, .beat_done_i, .beat_fail_i,
      .bell_queue_i, .bell_move_i, .bell_head_i, .bell_leave_i,
      .cmd_queue_i, .cmd_set_state_i, .cmd_state_i, .cmd_load_i, .cmd_head_i, .cmd_tail_i,
      .state_o(bell_state_next), .pending_o(bell_pending_o),
      .settled_o(bell_settled_o), .needy_o(bell_needy_o));
  rq_queue_view #(
      .Prefetch(Prefetch), .IndexWidth(IndexWidth), .QW(QW), .PW(PW)
  ) u_cmd (
      .active_i(cmd_set_state_i), .queue_i(cmd_queue_i), .state_i(cmd_state), .head_i(cmd_head), .fetch_i(cmd_fetch),
      .tail_i(cmd_tail), .place_i(cmd_place), .done_i(cmd_done),
      .consume_i, .judge_queue_i, .judge_tail_i, .judge_place_i,
      .holds_i(holds_next_i), .holds_queue_i(holds_next_queue_i),
      .fetch_go_i, .fetch_queue_i, .fetch_next_i, .evict_i, .victim_i,
      .beat_queue_i, .beat_done_i, .beat_fail_i,
      .bell_queue_i, .bell_move_i, .bell_head_i, .bell_leave_i,
      .cmd_queue_i, .cmd_set_state_i, .cmd_state_i, .cmd_load_i, .cmd_head_i, .cmd_tail_i,
      .state_o(cmd_state_next), .pending_o(cmd_pending_o),
      .settled_o(cmd_settled_o), .needy_o(cmd_needy_o));
  rq_queue_view #(
      .Prefetch(Prefetch), .IndexWidth(IndexWidth), .QW(QW), .PW(PW)
  ) u_take (
      .active_i(take_i), .queue_i(take_queue_i), .state_i(take_state), .head_i(take_head), .fetch_i(take_fetch),
      .tail_i(take_tail), .place_i(take_place), .done_i(take_done),
      .consume_i, .judge_queue_i, .judge_tail_i, .judge_place_i,
      .holds_i(holds_next_i), .holds_queue_i(holds_next_queue_i),
      .fetch_go_i, .fetch_queue_i, .fetch_next_i, .evict_i, .victim_i,
      .beat_queue_i, .beat_done_i, .beat_fail_i,
      .bell_queue_i, .bell_move_i, .bell_head_i, .bell_leave_i,
      .cmd_queue_i, .cmd_set_state_i, .cmd_state_i, .cmd_load_i, .cmd_head_i, .cmd_tail_i,
      .state_o(take_state_o), .pending_o(take_pending_o),
      .settled_o(take_settled_o), .needy_o(take_needy_o));

  // Only with a prefetch of one can the end of an answer make its queue needy.
  if (Prefetch == 1) begin : gen_freed
    logic [1:0] freed_state_next, unused_state;
    assign unused_state = freed_state_next;
    rq_queue_view #(
        .Prefetch(Prefetch), .IndexWidth(IndexWidth), .QW(QW), .PW(PW)
    ) u_freed (
        .active_i(freed_i), .queue_i(freed_queue_i), .state_i(freed_state), .head_i(freed_head), .fetch_i(freed_fetch),
        .tail_i(freed_tail), .place_i(freed_place), .done_i(freed_done),
        .consume_i, .judge_queue_i, .judge_tail_i, .judge_place_i,
        .holds_i(holds_next_i), .holds_queue_i(holds_next_queue_i),
        .fetch_go_i, .fetch_queue_i, .fetch_next_i, .evict_i, .victim_i,
        .beat_queue_i, .beat_done_i, .beat_fail_i,
        .bell_queue_i, .bell_move_i, .bell_head_i, .bell_leave_i,
        .cmd_queue_i, .cmd_set_state_i, .cmd_state_i, .cmd_load_i, .cmd_head_i, .cmd_tail_i,
        .state_o(freed_state_next), .pending_o(freed_pending_o),
        .settled_o(freed_settled_o), .needy_o(freed_needy_o));
  end else begin : gen_freed
    logic unused_freed;
    assign unused_freed    = ^{freed_place, freed_done};
    assign freed_pending_o = 1'b0;
    assign freed_settled_o = 1'b0;
    assign freed_needy_o   = 1'b0;
  end

  logic unused_states;
  assign unused_states = ^{judge_state_next, beat_state_next, bell_state_next, cmd_state_next,
                           cmd_judged};

endmodule
