// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Outstanding requests by tag, and step 5: what a beat of dma_rsp does.
module rq_tags #(
    parameter int unsigned Tags = 32,
    parameter int unsigned Prefetch = 8,
    parameter int unsigned IndexWidth = 16,
    parameter int unsigned QW = 6,
    parameter int unsigned PW = 3,
    parameter int unsigned LW = 6,
    parameter int unsigned StampWidth = 48,
    parameter int unsigned GW = 5
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    // allocation in step 3
    output logic                  free_o,
    output logic [GW-1:0]         free_tag_o,
    input  logic                  open_i,
    input  logic [QW-1:0]         open_queue_i,
    input  logic [2:0]            open_stride_i,
    input  logic [IndexWidth-1:0] open_first_i,
    input  logic [7:0]            open_slots_i,
    input  logic [PW-1:0]         open_place_i,
    input  logic [StampWidth-1:0] open_stamp_i,
    // step 4: the event of a failed tag
    output logic                  failed_o,        // a tag was failed at the start of the cycle
    output logic [QW-1:0]         failed_queue_o,
    output logic [IndexWidth-1:0] failed_first_o,
    input  logic                  failed_enters_i,
    output logic                  failed_next_o,
    // step 5
    input  logic                  beat_i,
    input  logic [5:0]            beat_tag_i,
    input  logic                  beat_last_i,
    input  logic                  beat_error_i,
    output logic [QW-1:0]         beat_queue_o,
    input  logic                  beat_ready_i,    // that queue is READY
    input  logic [IndexWidth-1:0] beat_size_i,
    input  logic [IndexWidth-1:0] beat_tail_i,     // after step 2
    input  logic                  beat_tail_done_i,
    output logic                  beat_unknown_o,
    output logic                  beat_fail_o,
    output logic                  beat_of_tail_o,  // slot tail is in the request and not complete
    output logic                  beat_end_o,      // the request has ended, and its tag is free
    output logic [7:0]            beat_undone_o,   // at its end: WQEs still in flight
    output logic [1:0]            beat_lines_o,    // log2 of the lines of each
    output logic [1:0]            beat_count_o,    // WQEs that are complete with this beat
    output logic [Prefetch-1:0]   beat_done_o,     // their places
    output logic                  store_o,
    output logic [PW-1:0]         store_place_o,
    output logic                  store_first_o,
    output logic [LW-1:0]         store_prev_o,
    output logic                  store_last_o,
    output logic [StampWidth-1:0] store_stamp_o,
    output logic                  store_two_o,
    output logic [PW-1:0]         store_place2_o,
    output logic                  store_last2_o,
    input  logic [LW-1:0]         store_line_i,
    // step 7: requests that a command waits for
    input  logic                  cmd_count_i,
    input  logic [QW-1:0]         cmd_queue_i,
    output logic                  quiet_o
);

  logic [Tags-1:0]       used_q, used_d, failed_q, failed_d, counted_q;
  logic [QW-1:0]         queue_q   [0:Tags-1];
  logic [2:0]            stride_q  [0:Tags-1];
  logic [IndexWidth-1:0] first_q   [0:Tags-1];
  logic [7:0]            slots_q   [0:Tags-1];
  logic [7:0]            beats_q   [0:Tags-1];  // received while the queue was READY
  logic [PW-1:0]         place_q   [0:Tags-1];  // of the first slot
  logic [StampWidth-1:0] stamp_q   [0:Tags-1];
  logic [LW-1:0]         prev_q    [0:Tags-1];  // line of the beat before

  logic [Tags-1:0] open_one_hot, failed_one_hot;
  logic [GW-1:0]   failed_tag;

  lowest_bit #(.Width(Tags), .IndexWidth(GW)) u_free (
      .bits_i(~used_q), .found_o(free_o), .one_hot_o(open_one_hot), .index_o(free_tag_o));
  lowest_bit #(.Width(Tags), .IndexWidth(GW)) u_failed (
      .bits_i(failed_q), .found_o(failed_o), .one_hot_o(failed_one_hot), .index_o(failed_tag));

  assign failed_queue_o = queue_q[failed_tag];
  assign failed_first_o = first_q[failed_tag];

  // The request of the beat.
  logic                  known, fail, useful, complete;
  logic [GW-1:0]         tag;
  logic [2:0]            stride;
  logic [7:0]            slots, beat, beat_after, expected, wqe, done;
  logic [1:0]            lines_log;
  logic [2:0]            lines_mask, part;
  logic [IndexWidth-1:0] from_first;
  logic [8:0]            place_sum, place2_sum;

  assign tag          = beat_tag_i[GW-1:0];
  assign known        = beat_i && {1'b0, beat_tag_i} < 7'(Tags) && used_q[tag] && !failed_q[tag];
  assign beat_queue_o = queue_q[tag];
  assign stride       = stride_q[tag];
  assign slots        = slots_q[tag];
  assign beat         = beats_q[tag];
  assign lines_log    = stride == 3'd0 ? 2'd0 : 2'(stride - 3'd1);
  assign lines_mask   = 3'((4'd1 << lines_log) - 4'd1);
  assign expected     = stride == 3'd0 ? (slots + 8'd1) >> 1 : slots << lines_log;

  assign fail       = beat_error_i || (beat_last_i && beat + 8'd1 < expected);
  assign useful     = known && beat_ready_i && !fail && beat < expected;
  assign beat_after = useful ? beat + 8'd1 : beat;
  assign wqe        = stride == 3'd0 ? beat << 1 : beat >> lines_log;
  assign part       = beat[2:0] & lines_mask;
  assign complete   = useful && part == lines_mask;

  // WQEs complete after this beat, should it be the last.
  always_comb begin
    done = stride == 3'd0 ? beat_after << 1 : beat_after >> lines_log;
    if (done > slots) done = slots;
  end

  assign beat_unknown_o = beat_i && !known;
  assign beat_fail_o    = known && beat_ready_i && fail;
  assign beat_end_o     = known && (beat_last_i || beat_error_i) && !beat_fail_o;
  assign beat_undone_o  = beat_end_o || beat_fail_o ? slots - done : 8'd0;
  assign beat_lines_o   = lines_log;
  assign from_first     = beat_tail_i >= first_q[tag] ? beat_tail_i - first_q[tag]
                                                      : beat_tail_i - first_q[tag] + beat_size_i;
  assign beat_of_tail_o = from_first < IndexWidth'(slots) && !beat_tail_done_i;

  assign place_sum       = 9'(place_q[tag]) + 9'(wqe);
  assign place2_sum      = 9'(store_place_o) + 9'd1;
  assign store_place_o   = place_sum >= 9'(Prefetch) ? PW'(place_sum - 9'(Prefetch))
                                                     : PW'(place_sum);
  assign store_place2_o  = place2_sum == 9'(Prefetch) ? '0 : PW'(place2_sum);
  assign store_o         = useful;
  assign store_first_o   = part == 3'd0;
  assign store_prev_o    = prev_q[tag];
  assign store_last_o    = wqe + 8'd1 == slots;
  assign store_stamp_o   = stamp_q[tag];
  assign store_two_o     = useful && stride == 3'd0 && !store_last_o;
  assign store_last2_o   = wqe + 8'd2 == slots;
  assign beat_count_o    = {store_two_o, complete && !store_two_o};

  always_comb begin
    beat_done_o = '0;
    if (complete) beat_done_o[store_place_o] = 1'b1;
    if (store_two_o) beat_done_o[store_place2_o] = 1'b1;
  end

  always_comb begin
    used_d   = used_q;
    failed_d = failed_q;
    if (failed_enters_i) begin
      used_d   = used_d & ~failed_one_hot;
      failed_d = failed_d & ~failed_one_hot;
    end
    if (beat_end_o) used_d[tag] = 1'b0;
    if (beat_fail_o) failed_d[tag] = 1'b1;
  end
  assign failed_next_o = failed_d != '0;

  logic [Tags-1:0] cmd_match;

  always_comb begin
    cmd_match = '0;
    if (cmd_count_i) begin
      for (int unsigned i = 0; i < Tags; i++)
        cmd_match[i] = used_d[i] && queue_q[i] == cmd_queue_i;
      if (open_i && open_queue_i == cmd_queue_i) cmd_match = cmd_match | open_one_hot;
    end
  end
  assign quiet_o = counted_q == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      used_q    <= '0;
      failed_q  <= '0;
      counted_q <= '0;
    end else begin
      used_q    <= open_i ? used_d | open_one_hot : used_d;
      failed_q  <= failed_d;
      counted_q <= cmd_count_i ? cmd_match : counted_q & used_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (open_i) begin
      queue_q[free_tag_o]   <= open_queue_i;
      stride_q[free_tag_o]  <= open_stride_i;
      first_q[free_tag_o]   <= open_first_i;
      slots_q[free_tag_o]   <= open_slots_i;
      beats_q[free_tag_o]   <= '0;
      place_q[free_tag_o]   <= open_place_i;
      stamp_q[free_tag_o]   <= open_stamp_i;
    end
    if (useful) begin
      beats_q[tag] <= beat_after;
      prev_q[tag]  <= store_line_i;
    end
  end

endmodule
