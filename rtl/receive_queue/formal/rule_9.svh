// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Rule 9: the size of a request, and how much may be under way. The lines that are free are the
// unit's own number; that it is neither too large nor too small shows only in the cases in which the
// request is limited by it.

logic [$clog2(Lines+1)-1:0] was_lines_free;
logic [Tags-1:0] busy = '0, failing = '0;  // tags
logic [Tags-1:0] busy_now, failing_now;
logic            was_answers, was_ends, was_answer_failed;
logic [5:0]      was_answer_tag;
logic [12:0]     least, slots, to_page;
logic [12:0]     room;

assign slots   = dma_req_bytes >> shift;
assign to_page = (13'd4096 - {1'b0, dma_req_address[11:0]}) >> shift;
assign room    = 13'(Prefetch) - 13'(distance(was_tail, was_fetch, was_size)) - 13'(was_holding);

always_comb begin
  least = 13'(distance(was_fetch, was_head, was_size));
  if (13'(was_size - was_fetch) < least) least = 13'(was_size - was_fetch);
  if (room < least) least = room;
  if (to_page < least) least = to_page;
  if ((13'(was_lines_free) >> (stride == 3'd2 ? 1 : 0)) < least)
    least = 13'(was_lines_free) >> (stride == 3'd2 ? 1 : 0);
  if ((13'(FetchBytes) >> shift) < least) least = 13'(FetchBytes) >> shift;
end

// Tags in use at the start of the cycle before: the last beat frees one in its cycle, the event of a
// failed request in that in which it enters; the lowest failed one goes first.
always_comb begin
  busy_now    = busy;
  failing_now = failing;
  if (fetch_error_entered) begin
    busy_now    = busy & ~(failing & (~failing + Tags'(1)));
    failing_now = failing & (failing - Tags'(1));
  end
  if (was_ends && !request_failed) busy_now[was_answer_tag[0]] = 1'b0;
  if (request_failed) failing_now[was_answer_tag[0]] = 1'b1;
  if (chosen) busy_now[dma_req_tag[0]] = 1'b1;
end

always_ff @(posedge clk_i) begin
  was_lines_free <= lines_free;
  was_ends       <= rst_n && ends;
  was_answer_tag <= dma_rsp_tag;
  if (rst_n) begin
    busy    <= busy_now;
    failing <= failing_now;
  end
end

always_comb begin
  if (rst_n && was_running) begin
    if (chosen) begin
      `CHECK(dma_req_tag < 6'(Tags) && !busy[dma_req_tag[0]])
      `CHECK(dma_req_tag == 6'd0 || busy[0])
      `CHECK(13'(dma_req_address[11:0]) + dma_req_bytes <= 13'd4096)
    end
    if (chosen_mine) begin
      `CHECK(slots == least)
    end
    if (state == receive_queue_pkg::StateReady) begin
      `CHECK(13'(distance(tail, fetch, size)) + 13'(holding) <= 13'(Prefetch))
    end
    // Where the fetch index goes.
    if (state == receive_queue_pkg::StateReady && was_state == receive_queue_pkg::StateReady &&
        chosen_mine) begin
      `CHECK(13'(distance(was_fetch, fetch, size)) == (slots == 13'(size) ? '0 : slots))
    end
  end
end
