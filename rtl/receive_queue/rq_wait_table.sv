// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// The takes that are accepted and not judged. The waiting TAKEs of a queue (no verdict yet) form a
// chain; only the first of a chain can be answered or make its queue needy, so its two bits are
// kept true by the steps that touch its queue, and the oldest entry is picked from bits alone.
module rq_wait_table #(
    parameter int unsigned Queues = 64,
    parameter int unsigned Takes = 16,
    parameter int unsigned QueueWidth = 24,
    parameter int unsigned TakeTagWidth = 32,
    parameter int unsigned QW = 6,
    parameter int unsigned TW = 4
) (
    input  logic                    clk_i,
    input  logic                    rst_ni,
    // picked from the start of the cycle
    output logic                    found_o,          // an entry is answerable
    output logic [QueueWidth-1:0]   queue_o,
    output logic [TakeTagWidth-1:0] tag_o,
    output logic                    peek_o,
    output logic                    flushed_o,
    output logic                    bad_queue_o,
    output logic                    fetch_error_o,
    output logic                    waited_o,
    output logic                    counted_o,
    output logic [TW-1:0]           id_o,             // number of the entry
    output logic [TW-1:0]           free_id_o,        // where the next take goes
    output logic                    needy_o,          // a queue is needy
    output logic [QW-1:0]           needy_queue_o,    // the one with the oldest TAKE
    output logic [Queues-1:0]       waits_o,          // queues with a waiting TAKE
    output logic [Takes-1:0]        begins_to_wait_o, // for the counters
    output logic                    quiet_o,          // no counted entry
    output logic                    answerable_next_o,
    // step 1 (of interest with a prefetch of 1) and step 2
    input  logic                    freed_i,
    input  logic [QW-1:0]           freed_queue_i,
    input  logic                    freed_pending_i,
    input  logic                    freed_settled_i,
    input  logic                    freed_needy_i,
    input  logic                    judged_i,         // the entry picked leaves
    input  logic                    judge_pending_i,
    input  logic                    judge_settled_i,
    input  logic                    judge_needy_i,
    // step 3
    input  logic                    needy_fetched_i,
    // step 5
    input  logic                    beat_i,
    input  logic [QW-1:0]           beat_queue_i,
    input  logic                    beat_fail_i,
    input  logic                    beat_of_tail_i,   // the failed request was to bring slot tail
    input  logic                    beat_pending_i,
    input  logic                    beat_settled_i,
    input  logic                    beat_needy_i,
    // step 6
    input  logic                    bell_i,
    input  logic [QW-1:0]           bell_queue_i,
    input  logic                    bell_flush_i,
    input  logic                    bell_pending_i,
    input  logic                    bell_settled_i,
    input  logic                    bell_needy_i,
    // step 7
    input  logic                    cmd_i,
    input  logic [QW-1:0]           cmd_queue_i,
    input  logic                    cmd_flush_i,
    input  logic                    cmd_count_i,      // mark the entries of the queue as counted
    input  logic                    cmd_pending_i,
    input  logic                    cmd_settled_i,
    input  logic                    cmd_needy_i,
    // step 8
    input  logic                    take_i,
    input  logic [QueueWidth-1:0]   take_queue_i,
    input  logic [TakeTagWidth-1:0] take_tag_i,
    input  logic                    take_peek_i,
    input  logic                    take_bad_i,       // BAD_QUEUE
    input  logic                    take_flushed_i,   // FLUSHED
    input  logic                    take_pending_i,
    input  logic                    take_settled_i,
    input  logic                    take_needy_i
);

  logic [QueueWidth-1:0]   queue_q [0:Takes-1];
  logic [TakeTagWidth-1:0] tag_q   [0:Takes-1];
  logic [TW-1:0]           next_q  [0:Takes-1];  // next younger waiting TAKE of the queue
  logic [TW-1:0]           first_q [0:Queues-1];
  logic [TW-1:0]           last_q  [0:Queues-1];

  logic [Takes-1:0]  valid_q, valid_d;
  logic [Takes-1:0]  open_q, open_d;              // no verdict yet
  logic [Takes-1:0]  peek_q, bad_q, error_q, waited_q, counted_q;
  logic [Takes-1:0]  answerable_q, answerable_d;
  logic [Takes-1:0]  needy_q, needy_d, pending, waited;
  logic [Queues-1:0] waits_q;

  // Picks, from the start of the cycle.
  logic [Takes-1:0] oldest, oldest_needy, free_one_hot, leave;
  logic [TW-1:0]    oldest_id, needy_id, free_id;
  logic [QW-1:0]    judge_queue;
  logic             unused_free;

  lowest_bit #(.Width(Takes), .IndexWidth(TW)) u_free (
      .bits_i(~valid_q), .found_o(unused_free), .one_hot_o(free_one_hot), .index_o(free_id));
  age_order #(.Entries(Takes)) u_age (
      .clk_i, .enter_i(take_i), .enter_one_hot_i(free_one_hot),
      .first_set_i(answerable_q), .first_oldest_o(oldest),
      .second_set_i(needy_q), .second_oldest_o(oldest_needy));
  one_hot_index #(.Width(Takes), .IndexWidth(TW)) u_oldest (
      .one_hot_i(oldest), .index_o(oldest_id));
  one_hot_index #(.Width(Takes), .IndexWidth(TW)) u_needy (
      .one_hot_i(oldest_needy), .index_o(needy_id));

  assign found_o          = |answerable_q;
  assign queue_o          = queue_q[oldest_id];
  assign tag_o            = tag_q[oldest_id];
  assign peek_o           = peek_q[oldest_id];
  assign bad_queue_o      = bad_q[oldest_id];
  assign fetch_error_o    = error_q[oldest_id];
  assign flushed_o        = !open_q[oldest_id] && !bad_queue_o && !fetch_error_o;
  assign waited_o         = waited_q[oldest_id];
  assign counted_o        = counted_q[oldest_id];
  assign id_o             = oldest_id;
  assign free_id_o        = free_id;
  assign needy_o          = |needy_q;
  assign needy_queue_o    = queue_q[needy_id][QW-1:0];
  assign waits_o          = waits_q;
  assign quiet_o          = counted_q == '0;
  assign judge_queue      = queue_o[QW-1:0];
  assign leave            = judged_i ? oldest : '0;

  // The chain of a queue after step 2.
  logic          pop, pop_last, enter_chain;
  logic [TW-1:0] popped_next, take_last;
  logic [QW-1:0] take_queue;

  assign pop         = judged_i && open_q[oldest_id] && !peek_o;
  assign pop_last    = oldest_id == last_q[judge_queue];
  assign popped_next = next_q[oldest_id];
  assign take_queue  = take_queue_i[QW-1:0];
  assign take_last   = last_q[take_queue];
  assign enter_chain = take_i && !take_bad_i && !take_flushed_i && !take_peek_i;

  logic          freed_waits, judge_waits, beat_waits, bell_waits, cmd_waits, take_waits;
  logic [TW-1:0] freed_first, beat_first, bell_first, cmd_first, take_first;

  always_comb begin
    freed_waits = waits_q[freed_queue_i];
    freed_first = first_q[freed_queue_i];
    if (pop && judge_queue == freed_queue_i) begin
      freed_waits = !pop_last;
      freed_first = popped_next;
    end
  end
  assign judge_waits = pop && !pop_last;
  always_comb begin
    beat_waits = waits_q[beat_queue_i];
    beat_first = first_q[beat_queue_i];
    if (pop && judge_queue == beat_queue_i) begin
      beat_waits = !pop_last;
      beat_first = popped_next;
    end
  end
  always_comb begin
    bell_waits = waits_q[bell_queue_i];
    bell_first = first_q[bell_queue_i];
    if (pop && judge_queue == bell_queue_i) begin
      bell_waits = !pop_last;
      bell_first = popped_next;
    end
  end
  always_comb begin
    cmd_waits = waits_q[cmd_queue_i];
    cmd_first = first_q[cmd_queue_i];
    if (pop && judge_queue == cmd_queue_i) begin
      cmd_waits = !pop_last;
      cmd_first = popped_next;
    end
  end
  // A TAKE that enters the chain finds no flush in its cycle: the queue is READY or PAUSED.
  always_comb begin
    take_waits = waits_q[take_queue];
    take_first = first_q[take_queue];
    if (pop && judge_queue == take_queue) begin
      take_waits = !pop_last;
      take_first = popped_next;
    end
    if (!take_waits) take_first = free_id;
  end

  // Verdicts given by steps 5 to 7.
  logic             flush;
  logic [Takes-1:0] flushed, cmd_match, failed;

  assign flush = beat_fail_i || bell_flush_i || cmd_flush_i;
  always_comb begin
    flushed   = '0;
    cmd_match = '0;
    if (flush || cmd_count_i) begin
      for (int unsigned i = 0; i < Takes; i++) begin
        flushed[i] = open_q[i] && !leave[i] &&
                     ((beat_fail_i && queue_q[i][QW-1:0] == beat_queue_i) ||
                      (bell_flush_i && queue_q[i][QW-1:0] == bell_queue_i) ||
                      (cmd_flush_i && queue_q[i][QW-1:0] == cmd_queue_i));
        cmd_match[i] = valid_q[i] && !leave[i] && queue_q[i] == QueueWidth'(cmd_queue_i);
      end
    end
  end
  always_comb begin
    failed = '0;
    if (beat_fail_i && beat_of_tail_i && beat_waits) failed[beat_first] = 1'b1;
  end

  always_comb begin
    valid_d = valid_q & ~leave;
    open_d  = open_q & ~leave & ~flushed;
    if (take_i) begin
      valid_d = valid_d | free_one_hot;
      if (!take_bad_i && !take_flushed_i) open_d = open_d | free_one_hot;
    end
  end

  always_comb begin
    answerable_d = answerable_q & ~leave;
    needy_d      = needy_q & ~leave;
    pending      = '0;
    if (needy_fetched_i) needy_d = needy_d & ~oldest_needy;
    if (freed_i && freed_waits) begin
      answerable_d[freed_first] = freed_settled_i;
      needy_d[freed_first]      = freed_needy_i;
      pending[freed_first]      = freed_pending_i;
    end
    if (judge_waits) begin
      answerable_d[popped_next] = judge_settled_i;
      needy_d[popped_next]      = judge_needy_i;
      pending[popped_next]      = judge_pending_i;
    end
    if (beat_i && beat_waits) begin
      answerable_d[beat_first] = beat_settled_i;
      needy_d[beat_first]      = beat_needy_i;
      pending[beat_first]      = beat_pending_i;
    end
    if (bell_i && bell_waits) begin
      answerable_d[bell_first] = bell_settled_i;
      needy_d[bell_first]      = bell_needy_i;
      pending[bell_first]      = bell_pending_i;
    end
    if (cmd_i && cmd_waits) begin
      answerable_d[cmd_first] = cmd_settled_i;
      needy_d[cmd_first]      = cmd_needy_i;
      pending[cmd_first]      = cmd_pending_i;
    end
    if (enter_chain) begin
      answerable_d[take_first] = take_settled_i;
      needy_d[take_first]      = take_needy_i;
      pending[take_first]      = take_pending_i;
    end else if (take_i) begin
      answerable_d[free_id] = 1'b1;
    end
    answerable_d = answerable_d | flushed;
    needy_d      = needy_d & ~flushed;
    pending      = pending & ~flushed;
  end

  assign answerable_next_o = |answerable_d;

  // Whom the next cycle will find waiting for a WQE that is posted, for the first time.
  assign waited           = take_i ? waited_q & ~free_one_hot : waited_q;
  assign begins_to_wait_o = pending & ~waited;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q      <= '0;
      open_q       <= '0;
      answerable_q <= '0;
      needy_q      <= '0;
      counted_q    <= '0;
      waits_q      <= '0;
    end else begin
      valid_q      <= valid_d;
      open_q       <= open_d;
      answerable_q <= answerable_d;
      needy_q      <= needy_d;
      counted_q    <= cmd_count_i ? cmd_match : counted_q & ~leave;
      if (pop && pop_last) waits_q[judge_queue] <= 1'b0;
      if (beat_fail_i) waits_q[beat_queue_i] <= 1'b0;
      if (bell_flush_i) waits_q[bell_queue_i] <= 1'b0;
      if (cmd_flush_i) waits_q[cmd_queue_i] <= 1'b0;
      if (enter_chain) waits_q[take_queue] <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    waited_q <= waited | pending;
    error_q  <= error_q | failed;
    if (take_i) begin
      queue_q[free_id]  <= take_queue_i;
      tag_q[free_id]    <= take_tag_i;
      peek_q[free_id]   <= take_peek_i;
      bad_q[free_id]    <= take_bad_i;
      error_q[free_id]  <= 1'b0;
    end
    if (pop && !pop_last) first_q[judge_queue] <= popped_next;
    if (enter_chain) begin
      if (take_waits) next_q[take_last] <= free_id;
      else first_q[take_queue] <= free_id;
      last_q[take_queue] <= free_id;
    end
  end

endmodule
