// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Properties of pass_buffer, inside the module. An arbitrary item of arbitrary value is followed from
// its handshake until it is taken: after what was there before, and unchanged.

(* anyconst *) logic [Width-1:0] f_value;
(* anyseq *) logic              f_pick;

logic             f_started = 1'b0;
logic             f_followed, f_starts, f_was_refused, f_was_held, f_through, f_queued;
logic [1:0]       f_before;  // items taken before the one followed
logic [Width-1:0] f_was_item, f_was_data;

assign f_starts = enter && f_pick && data_i == f_value && !f_followed;

always_comb begin
  if (!f_started) assume (!rst_ni);
  if (taken_i) assume (item_valid_o);
end

always_ff @(posedge clk_i) begin
  f_started <= 1'b1;
  if (!rst_ni) begin
    f_followed <= 1'b0;
    f_was_held <= 1'b0;
    f_through  <= 1'b0;
    f_queued   <= 1'b0;
  end else begin
    f_was_held <= item_valid_o && !taken_i;
    f_through  <= f_starts && held_q == 2'd0 && taken_i;
    f_queued   <= f_starts && held_q == 2'd1 && !taken_i;
    // An item that is taken in the cycle of its handshake never is in the buffer.
    if (f_starts && !(held_q == 2'd0 && taken_i)) begin
      f_followed <= 1'b1;
      f_before   <= held_q - {1'b0, taken_i};
    end else if (f_followed && taken_i) begin
      f_before <= f_before - 2'd1;
      if (f_before == 2'd0) f_followed <= 1'b0;
    end
  end
  f_was_item <= item_o;
end

always_comb begin
  if (rst_ni) begin
    assert (held_q <= 2'd2);
    assert (held_o == held_q);
    assert (ready_o == (held_q < 2'd2));
    assert (item_valid_o == (held_q != 2'd0 || (valid_i && ready_o)));
    assert (empty_next_o == (held_d == 2'd0));
    if (f_starts && held_q == 2'd0) assert (item_o == f_value);
    if (f_followed) begin
      assert (f_before < held_q);
      if (f_before == 2'd0) assert (item_valid_o && item_o == f_value && first_q == f_value);
      if (f_before == 2'd1) assert (second_q == f_value);
    end
    // An item that is not taken stays the one looked at.
    if (f_was_held) assert (held_q != 2'd0 && item_o == f_was_item);
    cover (f_through);
    cover (f_queued && f_followed);
    cover (held_q == 2'd2 && f_followed && f_before == 2'd1);
    cover (f_followed && f_before == 2'd0 && taken_i && enter);
  end
end
