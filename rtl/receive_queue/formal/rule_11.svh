// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Rule 11, and the content for rules 1 and 2: what is handed over is what memory held in that slot
// when it was asked in this life of the queue. A beat holds the life and its place in memory.

logic                    answer_life;
logic [AddressWidth-1:0] slot_address, beat_address;
logic [2:0]              answer_stride, this_stride;
logic                    this_life;
logic [AddressWidth-1:0] this_address;
logic [4:0]              low, high;

assign slot_address = base + (AddressWidth'(take_rsp_slot) << shift);
assign this_address = handed_over ? slot_address : beat_address;
assign this_life    = handed_over ? lives : answer_life;
assign this_stride  = handed_over ? stride : answer_stride;
assign low          = {this_life, this_address[8:5]};
assign high         = this_stride == 3'd0 ? 5'd0 : {this_life, this_address[8:5] + 4'd1};

always_ff @(posedge clk_i) begin
  answer_life   <= this_life;
  answer_stride <= this_stride;
  beat_address  <= this_address + (take_rsp_ready ? 14'd64 : 14'd0);
end

always_comb begin
  if (rst_n && holding) begin
    `CHECK(take_rsp_wqe == {high, low})
  end
end
