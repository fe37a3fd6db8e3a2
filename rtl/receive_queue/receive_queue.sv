// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// The receive-queue unit. What it does in every cycle is fixed in README.md beside this file; "step"
// in comments is a step of "What happens in a cycle" there.
module receive_queue #(
    parameter int unsigned Queues = 64,         // 1..2^24
    parameter int unsigned Takes = 16,          // 1..64
    parameter int unsigned Prefetch = 8,        // 1..255
    parameter int unsigned Tags = 32,           // 1..64
    parameter int unsigned FetchBytes = 512,    // 512..4096, power of two
    parameter int unsigned Lines = 64,          // 16..65534
    parameter int unsigned Events = 8,          // 1..64
    parameter int unsigned QueueWidth = 24,     // at least what Queues needs
    parameter int unsigned AddressWidth = 64,   // at least 13
    parameter int unsigned IndexWidth = 16,     // at least 2, at most 16
    parameter int unsigned TakeTagWidth = 32,
    parameter int unsigned DataWidth = 512      // even
) (
    input  logic                          clk_i,
    input  logic                          rst_ni,
    // commands
    input  logic                          cmd_valid_i,
    output logic                          cmd_ready_o,
    input  logic [2:0]                    cmd_op_i,
    input  logic [QueueWidth-1:0]         cmd_queue_i,
    input  logic [AddressWidth-1:0]       cmd_base_i,
    input  logic [IndexWidth-1:0]         cmd_size_i,
    input  logic [15:0]                   cmd_stride_i,
    input  logic [IndexWidth-1:0]         cmd_head_i,
    input  logic [IndexWidth-1:0]         cmd_tail_i,
    input  logic [IndexWidth-1:0]         cmd_limit_i,
    input  logic [31:0]                   cmd_arm_i,
    output logic                          cmd_rsp_valid_o,
    input  logic                          cmd_rsp_ready_i,
    output logic [1:0]                    cmd_rsp_status_o,
    output logic [1:0]                    cmd_rsp_state_o,
    output logic [IndexWidth-1:0]         cmd_rsp_size_o,
    output logic [IndexWidth-1:0]         cmd_rsp_head_o,
    output logic [IndexWidth-1:0]         cmd_rsp_fetch_o,
    output logic [IndexWidth-1:0]         cmd_rsp_tail_o,
    output logic [IndexWidth-1:0]         cmd_rsp_limit_o,
    // doorbells
    input  logic                          doorbell_valid_i,
    output logic                          doorbell_ready_o,
    input  logic [QueueWidth-1:0]         doorbell_queue_i,
    input  logic [IndexWidth-1:0]         doorbell_head_i,
    // reads of WQEs
    output logic                          dma_req_valid_o,
    input  logic                          dma_req_ready_i,
    output logic [5:0]                    dma_req_tag_o,
    output logic [AddressWidth-1:0]       dma_req_address_o,
    output logic [12:0]                   dma_req_bytes_o,
    input  logic                          dma_rsp_valid_i,
    input  logic [5:0]                    dma_rsp_tag_i,
    input  logic                          dma_rsp_last_i,
    input  logic                          dma_rsp_error_i,
    input  logic [DataWidth-1:0]          dma_rsp_data_i,
    // takes
    input  logic                          take_valid_i,
    output logic                          take_ready_o,
    input  logic [QueueWidth-1:0]         take_queue_i,
    input  logic [TakeTagWidth-1:0]       take_tag_i,
    input  logic                          take_kind_i,
    output logic                          take_rsp_valid_o,
    input  logic                          take_rsp_ready_i,
    output logic [TakeTagWidth-1:0]       take_rsp_tag_o,
    output logic [2:0]                    take_rsp_status_o,
    output logic                          take_rsp_last_o,
    output logic [IndexWidth-1:0]         take_rsp_slot_o,
    output logic [IndexWidth-1:0]         take_rsp_remaining_o,
    output logic [DataWidth-1:0]          take_rsp_wqe_o,
    // events
    output logic                          event_valid_o,
    input  logic                          event_ready_i,
    output logic [QueueWidth-1:0]         event_queue_o,
    output logic [1:0]                    event_kind_o,
    output logic [31:0]                   event_value_o,
    // nothing will change without a valid input
    output logic                          idle_o,
    // registers of one queue, for observation
    input  logic [QueueWidth-1:0]         debug_queue_i,
    output logic [1:0]                    debug_state_o,
    output logic [IndexWidth-1:0]         debug_size_o,
    output logic [IndexWidth-1:0]         debug_head_o,
    output logic [IndexWidth-1:0]         debug_fetch_o,
    output logic [IndexWidth-1:0]         debug_tail_o,
    output logic [IndexWidth-1:0]         debug_limit_o,
    // nothing changes without a valid input, though the fetch FIFO may hold a queue that waits for lines
    output logic                          debug_at_rest_o,
    // what happened in the cycle before, to be added up outside
    output logic                          count_takes_ok_o,
    output logic                          count_takes_empty_o,
    output logic                          count_takes_flushed_o,
    output logic                          count_takes_bad_queue_o,
    output logic                          count_takes_fetch_error_o,
    output logic                          count_peeks_ok_o,
    output logic                          count_peeks_empty_o,
    output logic                          count_peeks_flushed_o,
    output logic                          count_peeks_bad_queue_o,
    output logic [2:0]                    count_takes_waited_o,
    output logic                          count_takes_ok_at_once_o,
    output logic                          count_doorbells_o,
    output logic                          count_bad_doorbells_o,
    output logic                          count_commands_o,
    output logic                          count_dma_requests_o,
    output logic [7:0]                    count_wqes_fetched_o,
    output logic                          count_dma_beats_o,
    output logic                          count_dma_beats_unknown_o,
    output logic                          count_dma_requests_failed_o,
    output logic                          count_evictions_o,
    output logic [7:0]                    count_wqes_evicted_o,
    output logic                          count_fifo_drops_o,
    output logic                          count_limit_events_o,
    output logic                          count_fetch_error_events_o
);

  localparam int unsigned QW = Queues > 1 ? $clog2(Queues) : 1;
  localparam int unsigned PW = Prefetch > 1 ? $clog2(Prefetch) : 1;
  localparam int unsigned TW = Takes > 1 ? $clog2(Takes) : 1;
  localparam int unsigned GW = Tags > 1 ? $clog2(Tags) : 1;
  localparam int unsigned LW = $clog2(Lines);
  localparam int unsigned BW = $clog2(Lines + 1);  // of a number of lines
  localparam int unsigned StampWidth = 48;
  localparam int unsigned OutstandingWidth = $clog2(Takes + 1);

  // Whether a queue number is one of ours. One bit more, so that Queues itself can be written.
  function automatic logic known(input logic [QueueWidth-1:0] queue);
    known = {1'b0, queue} < (QueueWidth + 1)'(Queues);
  endfunction

  // Lines of so many WQEs.
  function automatic logic [BW-1:0] lines_of(input logic [7:0] wqes, input logic [2:0] stride);
    lines_of = BW'(12'(wqes) << (stride == 3'd0 ? 3'd0 : stride - 3'd1));
  endfunction

  // Input buffers ----------------------------------------------------------------------------------

  localparam int unsigned CmdWidth = 3 + QueueWidth + AddressWidth + 4 * IndexWidth + 16 + 32;

  logic                    cmd_item, cmd_taken, cmd_empty_next, cmd_bells_done;
  logic                    bell_item, bell_taken, bell_empty_next;
  logic [1:0]              cmd_held, bell_held;
  logic [CmdWidth-1:0]     cmd_payload;
  logic [2:0]              cmd_op;
  logic [QueueWidth-1:0]   cmd_number, bell_number;
  logic [AddressWidth-1:0] cmd_base;
  logic [IndexWidth-1:0]   cmd_size, cmd_head, cmd_tail, cmd_limit, bell_new_head;
  logic [15:0]             cmd_stride_given;
  logic [31:0]             cmd_arm;
  logic [QW-1:0]           cmd_queue, bell_queue, take_queue;
  logic                    take_enters;

  pass_buffer #(.Width(CmdWidth)) u_cmd_buffer (
      .clk_i, .rst_ni, .valid_i(cmd_valid_i), .ready_o(cmd_ready_o),
      .data_i({cmd_op_i, cmd_queue_i, cmd_base_i, cmd_size_i, cmd_stride_i, cmd_head_i, cmd_tail_i,
               cmd_limit_i, cmd_arm_i}),
      .item_valid_o(cmd_item), .item_o(cmd_payload), .taken_i(cmd_taken), .held_o(cmd_held),
      .empty_next_o(cmd_empty_next));
  pass_buffer #(.Width(QueueWidth + IndexWidth)) u_bell_buffer (
      .clk_i, .rst_ni, .valid_i(doorbell_valid_i), .ready_o(doorbell_ready_o),
      .data_i({doorbell_queue_i, doorbell_head_i}), .item_valid_o(bell_item),
      .item_o({bell_number, bell_new_head}), .taken_i(bell_taken), .held_o(bell_held),
      .empty_next_o(bell_empty_next));
  rq_doorbell_order u_order (
      .clk_i, .cmd_held_i(cmd_held), .bell_held_i(bell_held),
      .cmd_enter_i(cmd_valid_i && cmd_ready_o), .bell_enter_i(doorbell_valid_i && doorbell_ready_o),
      .bell_taken_i(bell_taken), .cmd_taken_i(cmd_taken), .done_o(cmd_bells_done));

  assign {cmd_op, cmd_number, cmd_base, cmd_size, cmd_stride_given, cmd_head, cmd_tail, cmd_limit,
          cmd_arm} = cmd_payload;
  assign cmd_queue   = cmd_number[QW-1:0];
  assign bell_queue  = bell_number[QW-1:0];
  assign take_queue  = take_queue_i[QW-1:0];
  assign take_enters = take_valid_i && take_ready_o;

  // What each step decides ---------------------------------------------------------------------------

  // step 1 and 2
  logic                    freed, answer_done, out_free, holds, holds_next, valid_next, keep;
  logic [1:0]              freed_log;
  logic [QW-1:0]           holds_queue, holds_next_queue, judge_queue;
  logic                    found, peek, flushed, bad_queue, fetch_error, waited, counted;
  logic [QueueWidth-1:0]   judge_number;
  logic [TakeTagWidth-1:0] judge_tag;
  logic                    tentative, judged, consume, fires;
  logic [2:0]              judge_status, judge_stride;
  logic [IndexWidth-1:0]   judge_size, judge_head, judge_tail, judge_limit, judge_slot;
  logic [IndexWidth-1:0]   judge_remaining, judge_next_tail;
  logic [31:0]             judge_arm;
  logic [PW-1:0]           judge_place, judge_next_place, keep_place;
  logic [LW-1:0]           find_line, read_line, read_next;
  logic                    find_upper, find_last, read_free;
  logic [StampWidth-1:0]   after_stamp, stamp, store_stamp;
  logic [DataWidth-1:0]    read_data;
  // step 3
  logic                    dma_free, needy, fifo_valid, tag_free, victim_valid, evict_wanted;
  logic                    fetch_go, evict, drop, pop, fetch_holds;
  logic [QW-1:0]           needy_queue, fifo_queue, fetch_queue, victim;
  logic [BW-1:0]           lines_free;
  logic [1:0]              fetch_state;
  logic [AddressWidth-1:0] fetch_base, fetch_address;
  logic [2:0]              fetch_stride, victim_stride;
  logic [IndexWidth-1:0]   fetch_size, fetch_head, fetch_fetch, fetch_tail, fetch_next;
  logic [PW-1:0]           fetch_place, first_place;
  logic [7:0]              slots, fetched, victim_stored;
  logic [12:0]             fetch_bytes;
  logic [GW-1:0]           free_tag;
  logic [Queues-1:0]       waits, fetching, stocked;
  // steps 4 and 5
  logic                    event_room, event_free, failed, failed_enters, failed_next;
  logic [QW-1:0]           failed_queue, beat_queue;
  logic [IndexWidth-1:0]   failed_first, beat_size, beat_tail;
  logic                    beat_ready, beat_tail_done, beat_unknown, beat_fail, beat_of_tail, beat_end;
  logic [7:0]              beat_undone, beat_stored;
  logic [1:0]              beat_lines_log, beat_count;
  logic [Prefetch-1:0]     beat_done;
  logic                    store, store_first, store_last, store_two, store_last2;
  logic [PW-1:0]           store_place, store_place2, beat_tail_place;
  logic [LW-1:0]           store_prev, store_line;
  // step 6
  logic                    bell_bad, bell_event, bell_move, bell_leave;
  logic [1:0]              bell_state;
  logic [2:0]              bell_stride;
  logic [IndexWidth-1:0]   bell_size, bell_head, bell_tail;
  logic [7:0]              bell_stored;
  // step 7
  logic [1:0]              cmd_state, cmd_new_state;
  logic [2:0]              cmd_stride, init_stride;
  logic [7:0]              cmd_stored;
  logic                    cmd_set_state, cmd_leave, cmd_flush, cmd_init, cmd_load, cmd_set_limit;
  logic                    count_requests, count_takes, quiet_takes, quiet_out, quiet_requests;
  logic [IndexWidth-1:0]   load_tail;
  logic                    cmd_rests_next;
  logic [QW-1:0]           query_queue;
  logic [1:0]              query_state;
  logic [IndexWidth-1:0]   query_size, query_head, query_fetch, query_tail, query_limit;
  // step 8
  logic [1:0]              take_state;
  logic                    take_bad, take_flushed;
  // queues that enter the fetch FIFO
  logic                    enter1, enter2, enter3, enter4, fifo_empty_next;
  logic [QW-1:0]           enter2_queue;
  // the oldest waiting TAKE of each step's queue in the next cycle
  logic freed_pending, freed_settled, freed_needy, judge_pending, judge_settled, judge_needy;
  logic beat_pending, beat_settled, beat_needy, bell_pending, bell_settled, bell_needy;
  logic cmd_pending, cmd_settled, cmd_needy, take_pending, take_settled, take_needy;
  logic [Takes-1:0] begins_to_wait;
  logic             answerable_next, event_empty_next;

  rq_queues #(
      .Queues(Queues), .Prefetch(Prefetch), .AddressWidth(AddressWidth), .IndexWidth(IndexWidth),
      .QW(QW), .PW(PW)
  ) u_queues (
      .clk_i, .rst_ni,
      .freed_i(freed), .freed_queue_i(holds_queue), .holds_i(holds), .holds_next_i(holds_next),
      .holds_next_queue_i(holds_next_queue), .freed_pending_o(freed_pending),
      .freed_settled_o(freed_settled), .freed_needy_o(freed_needy), .enter1_o(enter1),
      .judge_queue_i(judge_queue), .judge_stride_o(judge_stride), .judge_size_o(judge_size),
      .judge_head_o(judge_head), .judge_tail_o(judge_tail), .judge_limit_o(judge_limit),
      .judge_arm_o(judge_arm), .judge_place_o(judge_place),
      .judged_i(judged), .tentative_i(tentative),
      .consume_i(consume), .judge_tail_i(judge_next_tail), .judge_place_i(judge_next_place),
      .disarm_i(fires), .judge_pending_o(judge_pending), .judge_settled_o(judge_settled),
      .judge_needy_o(judge_needy),
      .fetch_queue_i(fetch_queue), .fetch_state_o(fetch_state), .fetch_base_o(fetch_base),
      .fetch_stride_o(fetch_stride), .fetch_size_o(fetch_size), .fetch_head_o(fetch_head),
      .fetch_fetch_o(fetch_fetch), .fetch_tail_o(fetch_tail), .fetch_place_o(fetch_place),
      .fetch_holds_o(fetch_holds), .fetching_o(fetching),
      .stocked_o(stocked), .fetch_go_i(fetch_go),
      .fetch_next_i(fetch_next), .fetch_after_i(fetch_go ? fetched + slots : fetched),
      .drop_i(drop), .evict_i(evict), .victim_i(victim), .victim_stored_o(victim_stored),
      .victim_stride_o(victim_stride), .enter2_o(enter2), .enter2_queue_o(enter2_queue),
      .beat_queue_i(beat_queue), .beat_ready_o(beat_ready), .beat_size_o(beat_size),
      .beat_tail_o(beat_tail), .beat_tail_place_o(beat_tail_place), .beat_tail_done_o(beat_tail_done), .beat_stored_o(beat_stored),
      .beat_count_i(beat_count), .beat_done_i(beat_done), .beat_fail_i(beat_fail),
      .request_end_i(beat_end), .beat_pending_o(beat_pending), .beat_settled_o(beat_settled),
      .beat_needy_o(beat_needy),
      .bell_queue_i(bell_queue), .bell_state_o(bell_state), .bell_stride_o(bell_stride),
      .bell_size_o(bell_size), .bell_head_o(bell_head), .bell_tail_o(bell_tail),
      .bell_stored_o(bell_stored), .bell_move_i(bell_move), .bell_head_i(bell_new_head),
      .bell_leave_i(bell_leave), .bell_pending_o(bell_pending), .bell_settled_o(bell_settled),
      .bell_needy_o(bell_needy), .enter3_o(enter3),
      .cmd_queue_i(cmd_queue), .cmd_state_o(cmd_state), .cmd_stride_o(cmd_stride),
      .cmd_stored_o(cmd_stored), .cmd_set_state_i(cmd_set_state), .cmd_state_i(cmd_new_state),
      .cmd_leave_i(cmd_leave), .cmd_init_i(cmd_init), .cmd_load_i(cmd_load),
      .cmd_limit_i(cmd_set_limit), .cmd_base_i(cmd_base), .cmd_stride_i(init_stride),
      .cmd_size_i(cmd_size), .cmd_head_i(cmd_head), .cmd_tail_i(load_tail),
      .cmd_limit_value_i(cmd_init ? '0 : cmd_limit), .cmd_arm_i(cmd_init ? 32'd0 : cmd_arm),
      .cmd_pending_o(cmd_pending), .cmd_settled_o(cmd_settled), .cmd_needy_o(cmd_needy),
      .enter4_o(enter4),
      .take_i(take_enters), .take_queue_i(take_queue), .take_state_o(take_state), .take_pending_o(take_pending),
      .take_settled_o(take_settled), .take_needy_o(take_needy),
      .query_queue_i(query_queue), .query_state_o(query_state), .query_size_o(query_size),
      .query_head_o(query_head), .query_fetch_o(query_fetch), .query_tail_o(query_tail),
      .query_limit_o(query_limit), .debug_queue_i(debug_queue_i[QW-1:0]),
      .debug_state_o(debug_state), .debug_size_o(debug_size), .debug_head_o(debug_head),
      .debug_fetch_o(debug_fetch), .debug_tail_o(debug_tail), .debug_limit_o(debug_limit));

  // Takes: wait table, judging, take_rsp ---------------------------------------------------------------

  rq_wait_table #(
      .Queues(Queues), .Takes(Takes), .QueueWidth(QueueWidth), .TakeTagWidth(TakeTagWidth), .QW(QW),
      .TW(TW)
  ) u_wait_table (
      .clk_i, .rst_ni,
      .found_o(found), .queue_o(judge_number), .tag_o(judge_tag), .peek_o(peek),
      .flushed_o(flushed), .bad_queue_o(bad_queue), .fetch_error_o(fetch_error), .waited_o(waited),
      .counted_o(counted), .needy_o(needy), .needy_queue_o(needy_queue), .waits_o(waits),
      .begins_to_wait_o(begins_to_wait), .quiet_o(quiet_takes),
      .answerable_next_o(answerable_next),
      .freed_i(freed && Prefetch == 1), .freed_queue_i(holds_queue), .freed_pending_i(freed_pending),
      .freed_settled_i(freed_settled), .freed_needy_i(freed_needy),
      .judged_i(judged), .judge_pending_i(judge_pending), .judge_settled_i(judge_settled),
      .judge_needy_i(judge_needy), .needy_fetched_i(fetch_go && needy),
      .beat_i(beat_count != 2'd0 || beat_fail), .beat_queue_i(beat_queue), .beat_fail_i(beat_fail),
      .beat_of_tail_i(beat_of_tail), .beat_pending_i(beat_pending), .beat_settled_i(beat_settled),
      .beat_needy_i(beat_needy),
      .bell_i(bell_move), .bell_queue_i(bell_queue), .bell_flush_i(bell_leave),
      .bell_pending_i(bell_pending), .bell_settled_i(bell_settled), .bell_needy_i(bell_needy),
      .cmd_i(cmd_set_state), .cmd_queue_i(cmd_queue), .cmd_flush_i(cmd_flush),
      .cmd_count_i(count_takes), .cmd_pending_i(cmd_pending), .cmd_settled_i(cmd_settled),
      .cmd_needy_i(cmd_needy),
      .take_i(take_enters), .take_queue_i, .take_tag_i, .take_peek_i(take_kind_i),
      .take_bad_i(take_bad), .take_flushed_i(take_flushed), .take_pending_i(take_pending),
      .take_settled_i(take_settled), .take_needy_i(take_needy));

  assign judge_queue  = judge_number[QW-1:0];
  assign take_bad     = !known(take_queue_i) || take_state == receive_queue_pkg::StateInvalid;
  assign take_flushed = take_state == receive_queue_pkg::StateError && !take_bad;

  rq_judging #(.Prefetch(Prefetch), .IndexWidth(IndexWidth), .PW(PW)) u_judging (
      .candidate_i(found && out_free), .peek_i(peek), .flushed_i(flushed), .bad_queue_i(bad_queue),
      .fetch_error_i(fetch_error), .size_i(judge_size), .head_i(judge_head), .tail_i(judge_tail),
      .limit_i(judge_limit), .place_i(judge_place), .event_free_i(event_free),
      .bell_bad_i(bell_bad), .tentative_o(tentative), .judged_o(judged), .consume_o(consume),
      .fires_o(fires), .status_o(judge_status), .slot_o(judge_slot),
      .remaining_o(judge_remaining), .next_tail_o(judge_next_tail),
      .next_place_o(judge_next_place));

  rq_take_rsp #(
      .IndexWidth(IndexWidth), .TakeTagWidth(TakeTagWidth), .DataWidth(DataWidth),
      .QueueWidth(QueueWidth), .QW(QW), .PW(PW), .LW(LW)
  ) u_take_rsp (
      .clk_i, .rst_ni, .valid_o(take_rsp_valid_o), .ready_i(take_rsp_ready_i),
      .tag_o(take_rsp_tag_o), .status_o(take_rsp_status_o), .last_o(take_rsp_last_o),
      .slot_o(take_rsp_slot_o), .remaining_o(take_rsp_remaining_o), .wqe_o(take_rsp_wqe_o),
      .free_o(out_free), .done_o(answer_done), .freed_o(freed), .freed_log_o(freed_log),
      .holds_o(holds), .holds_queue_o(holds_queue), .quiet_o(quiet_out),
      .judged_i(judged), .consume_i(consume), .counted_i(counted), .queue_i(judge_number),
      .tag_i(judge_tag), .status_i(judge_status), .slot_i(judge_slot),
      .remaining_i(judge_remaining), .stride_i(judge_stride), .place_i(judge_place),
      .line_i(find_line), .upper_i(find_upper), .last_wqe_i(find_last),
      .read_line_o(read_line), .read_data_i(read_data), .read_next_i(read_next),
      .read_free_o(read_free), .keep_o(keep), .keep_place_o(keep_place),
      .holds_next_o(holds_next), .holds_next_queue_o(holds_next_queue), .valid_next_o(valid_next),
      .cmd_count_i(count_takes), .cmd_queue_i(cmd_queue));

  // Fetches: FIFO, stage, tags, lines ------------------------------------------------------------------

  rq_fetch_fifo #(.Queues(Queues), .QW(QW)) u_fetch_fifo (
      .clk_i, .rst_ni, .valid_o(fifo_valid), .queue_o(fifo_queue), .pop_i(pop),
      .enter1_i(enter1), .queue1_i(holds_queue), .enter2_i(enter2), .queue2_i(enter2_queue),
      .enter3_i(enter3), .queue3_i(bell_queue), .enter4_i(enter4), .queue4_i(cmd_queue),
      .empty_next_o(fifo_empty_next));

  assign dma_free    = !dma_req_valid_o || dma_req_ready_i;
  assign fetch_queue = needy ? needy_queue : fifo_queue;

  rq_fetch_stage #(
      .Prefetch(Prefetch), .FetchBytes(FetchBytes), .Lines(Lines), .AddressWidth(AddressWidth),
      .IndexWidth(IndexWidth), .PW(PW)
  ) u_fetch_stage (
      .free_i(dma_free), .needy_i(needy), .fifo_valid_i(fifo_valid), .tag_free_i(tag_free),
      .lines_free_i(lines_free), .victim_valid_i(victim_valid), .state_i(fetch_state),
      .base_i(fetch_base), .stride_i(fetch_stride), .size_i(fetch_size), .head_i(fetch_head),
      .fetch_i(fetch_fetch), .tail_i(fetch_tail), .place_i(fetch_place), .holds_i(fetch_holds),
      .fetch_o(fetch_go), .evict_o(evict), .drop_o(drop), .pop_o(pop),
      .evict_wanted_o(evict_wanted), .slots_o(slots), .address_o(fetch_address),
      .bytes_o(fetch_bytes), .next_o(fetch_next), .first_place_o(first_place),
      .fetched_o(fetched));

  rq_eviction #(.Queues(Queues), .QW(QW), .StampWidth(StampWidth)) u_eviction (
      .clk_i, .rst_ni, .wanted_i(evict_wanted), .stocked_i(stocked), .waits_i(waits),
      .fetching_i(fetching), .holds_i(holds), .holds_queue_i(holds_queue),
      .victim_valid_o(victim_valid), .victim_o(victim), .open_i(fetch_go), .stamp_o(stamp),
      .consume_i(consume), .judge_queue_i(judge_queue), .judge_stamp_i(after_stamp),
      .arrive_i(store && store_first && store_place == beat_tail_place),
      .arrive_queue_i(beat_queue), .arrive_stamp_i(store_stamp));

  rq_tags #(
      .Tags(Tags), .Prefetch(Prefetch), .IndexWidth(IndexWidth), .QW(QW), .PW(PW), .LW(LW), .GW(GW),
      .StampWidth(StampWidth)
  ) u_tags (
      .clk_i, .rst_ni, .free_o(tag_free), .free_tag_o(free_tag), .open_i(fetch_go),
      .open_queue_i(fetch_queue), .open_stride_i(fetch_stride), .open_first_i(fetch_fetch),
      .open_slots_i(slots), .open_place_i(first_place), .open_stamp_i(stamp),
      .failed_o(failed), .failed_queue_o(failed_queue), .failed_first_o(failed_first),
      .failed_enters_i(failed_enters), .failed_next_o(failed_next),
      .beat_i(dma_rsp_valid_i), .beat_tag_i(dma_rsp_tag_i), .beat_last_i(dma_rsp_last_i),
      .beat_error_i(dma_rsp_error_i), .beat_queue_o(beat_queue), .beat_ready_i(beat_ready),
      .beat_size_i(beat_size), .beat_tail_i(beat_tail), .beat_tail_done_i(beat_tail_done),
      .beat_unknown_o(beat_unknown), .beat_fail_o(beat_fail), .beat_of_tail_o(beat_of_tail),
      .beat_end_o(beat_end), .beat_undone_o(beat_undone), .beat_lines_o(beat_lines_log),
      .beat_count_o(beat_count), .beat_done_o(beat_done), .store_o(store),
      .store_place_o(store_place), .store_first_o(store_first), .store_prev_o(store_prev),
      .store_last_o(store_last), .store_stamp_o(store_stamp), .store_two_o(store_two),
      .store_place2_o(store_place2), .store_last2_o(store_last2), .store_line_i(store_line),
      .cmd_count_i(count_requests), .cmd_queue_i(cmd_queue), .quiet_o(quiet_requests));

  rq_buffer #(
      .Lines(Lines), .DataWidth(DataWidth), .QW(QW), .PW(PW), .LW(LW),
      .StampWidth(StampWidth)
  ) u_buffer (
      .clk_i, .rst_ni, .free_o(lines_free),
      .reserve_i(fetch_go ? lines_of(slots, fetch_stride) : '0),
      .release1_i(freed ? BW'(1) << freed_log : '0),
      .release2_i(evict ? lines_of(victim_stored, victim_stride) : '0),
      .release3_i(BW'(12'(beat_undone) << beat_lines_log) +
                  (beat_fail ? BW'(12'(beat_stored) << beat_lines_log) : '0)),
      .release4_i(bell_leave ? lines_of(bell_stored, bell_stride) : '0),
      .release5_i(cmd_leave ? lines_of(cmd_stored, cmd_stride) : '0),
      .find_queue_i(judge_queue), .find_place_i(judge_place), .find_line_o(find_line),
      .find_upper_o(find_upper), .find_last_o(find_last), .after_place_i(judge_next_place),
      .after_stamp_o(after_stamp),
      .read_line_i(read_line), .read_data_o(read_data), .read_next_o(read_next),
      .read_free_i(read_free), .keep_i(keep), .keep_queue_i(holds_next_queue),
      .keep_place_i(keep_place), .store_i(store), .store_data_i(dma_rsp_data_i),
      .store_queue_i(beat_queue), .store_place_i(store_place), .store_first_i(store_first),
      .store_prev_i(store_prev), .store_last_i(store_last), .store_stamp_i(store_stamp),
      .store_two_i(store_two), .store_place2_i(store_place2), .store_last2_i(store_last2),
      .store_line_o(store_line), .evict_i(evict), .victim_i(victim), .beat_leave_i(beat_fail),
      .bell_leave_i(bell_leave), .bell_queue_i(bell_queue), .cmd_leave_i(cmd_leave),
      .cmd_queue_i(cmd_queue));

  // Doorbells, commands, events ------------------------------------------------------------------------

  rq_doorbell_stage #(.IndexWidth(IndexWidth)) u_doorbell_stage (
      .item_i(bell_item), .known_i(known(bell_number)), .new_head_i(bell_new_head),
      .state_i(bell_state), .size_i(bell_size), .head_i(bell_head), .tail_i(bell_tail),
      .event_free_i(event_free), .bad_o(bell_bad), .taken_o(bell_taken), .event_o(bell_event),
      .move_o(bell_move), .leave_o(bell_leave));

  rq_command_stage #(.IndexWidth(IndexWidth), .QW(QW)) u_command_stage (
      .clk_i, .rst_ni, .item_i(cmd_item), .bells_done_i(cmd_bells_done), .op_i(cmd_op),
      .known_i(known(cmd_number)), .queue_i(cmd_queue), .base_low_i(cmd_base[8:0]), .size_i(cmd_size),
      .stride_i(cmd_stride_given), .head_i(cmd_head), .tail_i(cmd_tail), .taken_o(cmd_taken),
      .state_i(cmd_state), .queue_stride_i(cmd_stride), .set_state_o(cmd_set_state),
      .state_o(cmd_new_state), .leave_o(cmd_leave), .flush_o(cmd_flush), .init_o(cmd_init),
      .load_o(cmd_load), .load_tail_o(load_tail), .limit_o(cmd_set_limit),
      .init_stride_o(init_stride), .count_requests_o(count_requests),
      .count_takes_o(count_takes),
      .quiet_i(quiet_takes && quiet_out && quiet_requests), .query_queue_o(query_queue),
      .query_state_i(query_state), .query_size_i(query_size), .query_head_i(query_head),
      .query_fetch_i(query_fetch), .query_tail_i(query_tail), .query_limit_i(query_limit),
      .rsp_valid_o(cmd_rsp_valid_o), .rsp_ready_i(cmd_rsp_ready_i),
      .rsp_status_o(cmd_rsp_status_o), .rsp_state_o(cmd_rsp_state_o),
      .rsp_size_o(cmd_rsp_size_o), .rsp_head_o(cmd_rsp_head_o), .rsp_fetch_o(cmd_rsp_fetch_o),
      .rsp_tail_o(cmd_rsp_tail_o), .rsp_limit_o(cmd_rsp_limit_o),
      .at_rest_next_o(cmd_rests_next));

  logic [QueueWidth-1:0] event_queue;
  logic [1:0]            event_kind;
  logic [31:0]           event_value;

  assign event_free    = event_room && !failed;
  assign failed_enters = event_room && failed;
  always_comb begin
    event_queue = judge_number;
    event_kind  = receive_queue_pkg::EventLimit;
    event_value = judge_arm;
    if (bell_event) begin
      event_queue = bell_number;
      event_kind  = receive_queue_pkg::EventBadDoorbell;
      event_value = 32'(bell_new_head);
    end
    if (failed_enters) begin
      event_queue = QueueWidth'(failed_queue);
      event_kind  = receive_queue_pkg::EventFetchError;
      event_value = 32'(failed_first);
    end
  end

  output_fifo #(.Width(QueueWidth + 34), .Depth(Events)) u_events (
      .clk_i, .rst_ni, .push_i(failed_enters || bell_event || fires),
      .data_i({event_queue, event_kind, event_value}), .room_o(event_room),
      .valid_o(event_valid_o), .ready_i(event_ready_i),
      .data_o({event_queue_o, event_kind_o, event_value_o}), .empty_next_o(event_empty_next));

  // Registers of the ports -----------------------------------------------------------------------------

  logic                        dma_valid_d, rests_d, rests_q;
  logic [OutstandingWidth-1:0] outstanding_q, outstanding_d;  // takes

  assign dma_valid_d   = fetch_go || !dma_free;
  assign outstanding_d = outstanding_q + OutstandingWidth'(take_enters) -
                         OutstandingWidth'(answer_done);

  // All that idle asks for but the fetch FIFO.
  assign rests_d = cmd_empty_next && bell_empty_next && cmd_rests_next && !dma_valid_d &&
                   !valid_next && event_empty_next && !failed_next && !answerable_next;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      dma_req_valid_o <= 1'b0;
      outstanding_q   <= '0;
      take_ready_o    <= 1'b1;
      idle_o          <= 1'b1;
      rests_q         <= 1'b1;
    end else begin
      dma_req_valid_o <= dma_valid_d;
      outstanding_q   <= outstanding_d;
      take_ready_o    <= outstanding_d < OutstandingWidth'(Takes);
      idle_o          <= rests_d && fifo_empty_next;
      rests_q         <= rests_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (fetch_go) begin
      dma_req_tag_o     <= 6'(free_tag);
      dma_req_address_o <= fetch_address;
      dma_req_bytes_o   <= fetch_bytes;
    end
  end

  // Observation ----------------------------------------------------------------------------------------

  logic [1:0]            debug_state;
  logic [IndexWidth-1:0] debug_size, debug_head, debug_fetch, debug_tail, debug_limit;

  assign debug_at_rest_o = rests_q && !fetch_go && !evict && !drop;
  assign debug_state_o = known(debug_queue_i) ? debug_state : 2'd0;
  assign debug_size_o  = known(debug_queue_i) ? debug_size : '0;
  assign debug_head_o  = known(debug_queue_i) ? debug_head : '0;
  assign debug_fetch_o = known(debug_queue_i) ? debug_fetch : '0;
  assign debug_tail_o  = known(debug_queue_i) ? debug_tail : '0;
  assign debug_limit_o = known(debug_queue_i) ? debug_limit : '0;

  rq_counters #(.Takes(Takes)) u_counters (
      .clk_i, .rst_ni, .judged_i(judged), .peek_i(peek), .status_i(judge_status),
      .waited_i(waited), .begins_to_wait_i(begins_to_wait), .bell_i(bell_taken),
      .bell_bad_i(bell_event), .command_i(cmd_taken), .fetch_i(fetch_go), .slots_i(slots),
      .beat_i(dma_rsp_valid_i && !beat_unknown), .beat_unknown_i(beat_unknown), .beat_fail_i(beat_fail),
      .evict_i(evict), .evicted_i(victim_stored), .drop_i(drop), .limit_event_i(fires),
      .fetch_error_event_i(failed_enters),
      .takes_ok_o(count_takes_ok_o), .takes_empty_o(count_takes_empty_o),
      .takes_flushed_o(count_takes_flushed_o), .takes_bad_queue_o(count_takes_bad_queue_o),
      .takes_fetch_error_o(count_takes_fetch_error_o), .peeks_ok_o(count_peeks_ok_o),
      .peeks_empty_o(count_peeks_empty_o), .peeks_flushed_o(count_peeks_flushed_o),
      .peeks_bad_queue_o(count_peeks_bad_queue_o), .takes_waited_o(count_takes_waited_o),
      .takes_ok_at_once_o(count_takes_ok_at_once_o), .doorbells_o(count_doorbells_o),
      .bad_doorbells_o(count_bad_doorbells_o), .commands_o(count_commands_o),
      .dma_requests_o(count_dma_requests_o), .wqes_fetched_o(count_wqes_fetched_o),
      .dma_beats_o(count_dma_beats_o), .dma_beats_unknown_o(count_dma_beats_unknown_o),
      .dma_requests_failed_o(count_dma_requests_failed_o), .evictions_o(count_evictions_o),
      .wqes_evicted_o(count_wqes_evicted_o), .fifo_drops_o(count_fifo_drops_o),
      .limit_events_o(count_limit_events_o), .fetch_error_events_o(count_fetch_error_events_o));

endmodule
