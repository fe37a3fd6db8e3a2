// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Rule 1: slots are handed over in ring order, each once: every OK to a TAKE has the slot that follows
// the one before, counted from where INIT or RESUME began. An answer has all its beats, without
// another one between them.

logic [2:0] beats_missing;
logic       was_advanced = 1'b0;
logic [TakeTagWidth+3+2*IndexWidth-1:0] was_answer;

always_ff @(posedge clk_i) begin
  was_advanced <= take_rsp_valid && !(take_rsp_ready && take_rsp_last);
  was_answer   <= {take_rsp_tag, take_rsp_status, take_rsp_slot, take_rsp_remaining};
  if (handed_over) beats_missing <= (stride == 3'd2 ? 3'd2 : 3'd1) - 3'(take_rsp_ready);
  else if (take_rsp_valid && take_rsp_ready) beats_missing <= beats_missing - 3'd1;
end

always_comb begin
  if (rst_n) begin
    if (handed_over) begin
      `CHECK(was_state == receive_queue_pkg::StateReady)
      `CHECK(take_rsp_slot == was_tail)
      `CHECK(take_rsp_last == (stride != 3'd2))
    end else if (holding) begin
      `CHECK(take_rsp_last == (beats_missing == 3'd1))
    end
    if (state == receive_queue_pkg::StateReady || state == receive_queue_pkg::StatePaused) begin
      if (was_running) begin
        `CHECK(tail == tail7)
      end
    end
    if (was_advanced) begin
      `CHECK(take_rsp_valid)
      `CHECK({take_rsp_tag, take_rsp_status, take_rsp_slot, take_rsp_remaining} == was_answer)
    end
    if (take_rsp_valid && take_rsp_status != receive_queue_pkg::TakeOk) begin
      `CHECK(take_rsp_last && take_rsp_wqe == '0 && take_rsp_slot == '0 &&
              take_rsp_remaining == '0)
    end
  end
end
