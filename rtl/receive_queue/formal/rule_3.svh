// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Rule 3: takes outstanding; an arbitrary take of the queue watched is followed, and its answer comes
// after those of the TAKEs before it, with the status that the queue's state asks for.

logic [2:0] outstanding = 3'd0, before, waiting_takes = 3'd0;
logic       take_enters, answer_leaves, following = 1'b0, follow_peek, entered, entered_followed;
logic       entered_mine, entered_take, judged_take, open, expect_bad;
logic [2:0] takes_there;

assign take_enters   = take_valid && take_ready;
assign answer_leaves = take_rsp_valid && take_rsp_ready && take_rsp_last;
assign judged_take   = judged_mine && !judged_peek;

always_comb begin
  // One take at a time is followed, one that names the queue watched.
  if (take_valid && take_followed) assume (take_queue == {1'b0, watched} && !following && !entered_followed);
end

always_ff @(posedge clk_i) begin
  if (rst_n) begin
    outstanding      <= outstanding + 3'(take_enters) - 3'(answer_leaves);
    waiting_takes    <= takes_there;
    entered          <= take_enters;
    entered_followed <= take_enters && take_followed;
    entered_take     <= take_enters && take_queue == {1'b0, watched} && !take_kind;
    entered_mine     <= take_kind;
  end else begin
    entered_followed <= 1'b0;
    entered_take     <= 1'b0;
  end
  // A take that entered in the cycle before sees the state after all that happened in it.
  if (entered_followed) begin
    following   <= 1'b1;
    follow_peek <= entered_mine;
    expect_bad  <= state == receive_queue_pkg::StateInvalid;
    open        <= state == receive_queue_pkg::StateReady || state == receive_queue_pkg::StatePaused;
    before      <= waiting_takes - 3'(judged_take);
  end else if (following) begin
    if (state == receive_queue_pkg::StateInvalid || state == receive_queue_pkg::StateError)
      open <= 1'b0;
    if (judged_take) before <= before - 3'd1;
    if (judged && take_rsp_tag[3]) following <= 1'b0;
  end
end

// TAKEs of the queue that are not judged.
assign takes_there = waiting_takes + 3'(entered_take) - 3'(judged_take);

always_comb begin
  if (rst_n) begin
    `CHECK(outstanding <= 3'(Takes))
    `CHECK(take_ready == (outstanding < 3'(Takes)))
    if (judged && take_rsp_tag[3]) begin
      `CHECK(following && judged_mine && judged_peek == follow_peek)
      if (!follow_peek) begin
        `CHECK(before == '0)
      end
      case (take_rsp_status)
        receive_queue_pkg::TakeOk: begin
          `CHECK(open)
          `CHECK(was_head != was_tail && take_rsp_slot == was_tail)
          `CHECK(take_rsp_remaining == distance(follow_peek ? was_tail : tail2, was_head, was_size))
          `CHECK(was_state == receive_queue_pkg::StateReady ||
                  (follow_peek && was_state == receive_queue_pkg::StatePaused))
        end
        receive_queue_pkg::TakeEmpty: begin
          `CHECK(open && was_head == was_tail)
          `CHECK(was_state == receive_queue_pkg::StateReady ||
                  (follow_peek && was_state == receive_queue_pkg::StatePaused))
        end
        receive_queue_pkg::TakeBadQueue: begin
          `CHECK(expect_bad)
        end
        default: begin
          `CHECK(!open && !expect_bad)
          `CHECK(take_rsp_status == receive_queue_pkg::TakeFlushed ||
                  (take_rsp_status == receive_queue_pkg::TakeFetchError && !follow_peek))
        end
      endcase
    end
  end
end
