// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// That the bound is deep enough for what the rules are about.

logic handed_last = 1'b0, erred = 1'b0, error_by_answer = 1'b0, reborn = 1'b0, resumed = 1'b0;
logic invalidated = 1'b0, victim_lost = 1'b0;

always_ff @(posedge clk_i) begin
  if (handed_over && take_rsp_slot == was_size - 3'd1 && was_size > 3'd1) handed_last <= 1'b1;
  if (state == receive_queue_pkg::StateError) erred <= 1'b1;
  if (was_fail) error_by_answer <= 1'b1;
  if (erred && c_good && c_op == 3'd5) invalidated <= 1'b1;
  if (invalidated && c_good && c_op == 3'd0) reborn <= 1'b1;
  if (c_good && c_op == 3'd3) resumed <= 1'b1;
  if (evicted && was_state == receive_queue_pkg::StateReady && state == was_state &&
      was_fetch != was_tail && fetch == tail)
    victim_lost <= 1'b1;
end

always_comb begin
  if (rst_n && was_running) begin
`ifdef COVER_BASIC
    `REACH(c_good && c_op == 3'd0 && state == receive_queue_pkg::StateReady)  // INIT
    `REACH(handed_over && bell_mine)
    `REACH(was_fail && judged_mine)
    `REACH(error_by_answer && take_rsp_status == receive_queue_pkg::TakeFetchError && judged_mine)
    `REACH(event_valid && event_kind == receive_queue_pkg::EventFetchError)
    `REACH(event_valid && event_kind == receive_queue_pkg::EventBadDoorbell && erred)
    `REACH(limit_fires)
    `REACH(judged_mine && judged_peek && take_rsp_status == receive_queue_pkg::TakeOk)
    `REACH(judged_mine && take_rsp_status == receive_queue_pkg::TakeFlushed)
`endif
`ifdef COVER_WRAP
    `REACH(handed_last && handed_over && take_rsp_slot == '0)
`endif
`ifdef COVER_EVICTION
    `REACH(victim_lost)
`endif
`ifdef COVER_LIVES
    `REACH(erred && c_good && c_op == 3'd0)
    `REACH(reborn && handed_over)
    `REACH(resumed && handed_over)
`endif
  end
end
