// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Properties of output_fifo, inside the module. An arbitrary item of arbitrary value is followed from
// its push until it leaves: it comes out after all items that were before it, and unchanged.

(* anyconst *) logic [Width-1:0] f_value;
(* anyseq *) logic              f_pick;

logic                  f_started = 1'b0;
logic                  f_followed, f_old, f_was_offered;
logic [CountWidth-1:0] f_before;   // items that leave before the one followed
logic [Width-1:0]      f_was_data;
logic                  f_filled, f_behind_all;

always_comb begin
  if (!f_started) assume (!rst_ni);
  if (push_i) assume (room_o);
end

always_ff @(posedge clk_i) begin
  f_started <= 1'b1;
  if (!rst_ni) begin
    f_followed    <= 1'b0;
    f_was_offered <= 1'b0;
    f_filled      <= 1'b0;
    f_behind_all  <= 1'b0;
  end else begin
    f_was_offered <= valid_o && !ready_i;
    if (count_q == CountWidth'(Depth)) f_filled <= 1'b1;
    if (push_i && f_pick && data_i == f_value && !f_followed) begin
      f_followed   <= 1'b1;
      f_before     <= count_q - CountWidth'(pop);
      f_behind_all <= count_q - CountWidth'(pop) == CountWidth'(Depth - 1);
    end else if (f_followed && pop) begin
      f_before <= f_before - CountWidth'(1);
      if (f_before == '0) f_followed <= 1'b0;
    end
  end
  f_was_data <= data_o;
end

always_comb begin
  if (rst_ni) begin
    assert (count_q <= CountWidth'(Depth));
    assert (valid_o == (count_q != '0));
    assert (room_o == (count_q != CountWidth'(Depth)));
    // Order and content.
    if (f_followed) begin
      assert (f_before < count_q);
      if (f_before == '0) assert (valid_o && data_o == f_value);
    end
    // What is offered stays.
    if (f_was_offered) assert (valid_o && data_o == f_was_data);
    cover (f_filled && f_followed && f_behind_all && f_before == '0 && pop);
    cover (f_filled && !valid_o);
  end
end

if (Depth > 1) begin : gen_formal
  // For the induction: where the item stands in the ring, and how the places stand to the number.
  localparam int unsigned RingDepth = Depth - 1;
  logic [CountWidth:0] f_place, f_ahead;

  always_comb begin
    f_place = (CountWidth + 1)'(gen_ring.read_q) + (CountWidth + 1)'(f_before) -
              (CountWidth + 1)'(1);
    if (f_place >= (CountWidth + 1)'(RingDepth)) f_place = f_place - (CountWidth + 1)'(RingDepth);
    f_ahead = (CountWidth + 1)'(gen_ring.read_q) +
              (count_q == '0 ? '0 : (CountWidth + 1)'(count_q) - (CountWidth + 1)'(1));
    if (f_ahead >= (CountWidth + 1)'(RingDepth)) f_ahead = f_ahead - (CountWidth + 1)'(RingDepth);
    if (rst_ni) begin
      assert ((CountWidth + 1)'(gen_ring.read_q) < (CountWidth + 1)'(RingDepth));
      assert ((CountWidth + 1)'(gen_ring.write_q) == f_ahead);
      if (f_followed && f_before != '0)
        assert (gen_ring.ring_q[f_place[gen_ring.RingWidth-1:0]] == f_value);
      cover (f_filled && gen_ring.write_q == '0 && count_q == CountWidth'(Depth));
    end
  end
end
