// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// What happened to the queue watched in the cycle before (was_ is its start), and what state that
// should have led to, by the table of doorbells and the table of commands.

function automatic logic [IndexWidth-1:0] distance(
    input logic [IndexWidth-1:0] from, input logic [IndexWidth-1:0] to,
    input logic [IndexWidth-1:0] ring);
  distance = to >= from ? to - from : to - from + ring;
endfunction

function automatic logic [IndexWidth-1:0] next_slot(
    input logic [IndexWidth-1:0] slot, input logic [IndexWidth-1:0] ring);
  next_slot = slot + IndexWidth'(1) == ring ? '0 : slot + IndexWidth'(1);
endfunction

// Start state of the cycle before.
logic [1:0] was_state;
logic [IndexWidth-1:0] was_size, was_head, was_fetch, was_tail, was_limit;
logic       was_out_free = 1'b1, was_req_free = 1'b1, was_holding = 1'b0;
logic       was_running = 1'b0;  // out of reset in the cycle before
logic       was_fail;            // a request of the queue failed in it
logic       holding;

always_ff @(posedge clk_i) begin
  was_state    <= state;
  was_size     <= size;
  was_head     <= head;
  was_fetch    <= fetch;
  was_tail     <= tail;
  was_limit    <= limit;
  was_running  <= rst_n;
  was_out_free <= !take_rsp_valid || (take_rsp_ready && take_rsp_last);
  was_req_free <= !dma_req_valid || dma_req_ready;
  was_holding  <= holding;
  was_fail     <= answers && answer_queue == watched && state == receive_queue_pkg::StateReady &&
                  (dma_rsp_error || (dma_rsp_last && answer_left != 8'd1));
end

// The doorbell and the command that were accepted in it, looked at where they leave the input buffers,
// of which common.pass_buffer proves that they come out as they went in. Wires that are kept are
// connected to nets of the unit by tasks.toml.
(* keep *) logic                                                 bell_taken, cmd_taken;
(* keep *) logic [QueueWidth+IndexWidth-1:0]                     bell_item;
(* keep *) logic [3+QueueWidth+AddressWidth+4*IndexWidth+48-1:0] cmd_item;
(* keep *) logic [$clog2(Lines+1)-1:0]                           lines_free;
(* keep *) logic [AddressWidth-1:0]                              base_0, base_1;
(* keep *) logic [2:0]                                           stride_0, stride_1;
(* keep *) logic [Takes-1:0]                                     needy;
(* keep *) logic                                                 in_fifo;

logic [QueueWidth-1:0]   bell_queue, c_queue;
logic [IndexWidth-1:0]   bell_head, c_size, c_head, c_tail, c_limit;
logic [2:0]              c_op;
logic [AddressWidth-1:0] c_base;
logic [15:0]             c_stride;
logic [31:0]             c_arm;
logic                    bell_mine, c_mine, bell_accepted = 1'b0, c_accepted = 1'b0;

always_ff @(posedge clk_i) begin
  bell_accepted           <= rst_n && bell_taken;
  {bell_queue, bell_head} <= bell_item;
  c_accepted              <= rst_n && cmd_taken;
  {c_op, c_queue, c_base, c_size, c_stride, c_head, c_tail, c_limit, c_arm} <= cmd_item;
end

assign bell_mine = bell_accepted && bell_queue == {1'b0, watched};
assign c_mine    = c_accepted && c_queue == {1'b0, watched};

// The answer that was judged in it, and the request that was chosen.
logic judged, judged_mine, judged_peek, handed_over, chosen, chosen_mine;
assign judged      = take_rsp_valid && was_out_free;
assign judged_mine = judged && take_rsp_tag[1:0] == {1'b0, watched};
assign judged_peek = take_rsp_tag[2];
assign holding     = take_rsp_valid && take_rsp_tag[2:0] == {2'b00, watched} &&
                     take_rsp_status == receive_queue_pkg::TakeOk;
assign handed_over = judged && holding;
assign chosen      = dma_req_valid && was_req_free;
assign chosen_mine = chosen && dma_req_address[AddressWidth-1] == watched;

// What the queue was given by INIT and RESUME.
logic [AddressWidth-1:0] base;
logic [2:0]              stride, c_stride_log;  // log2, less 5
logic [3:0]              shift;
logic                    c_stride_good, c_ring_good, c_allowed, c_good, c_load;

assign shift = 4'(stride) + 4'd5;
always_comb begin
  c_stride_good = 1'b1;
  c_stride_log  = 3'd0;
  case (c_stride)
    16'd32:  c_stride_log = 3'd0;
    16'd64:  c_stride_log = 3'd1;
    16'd128: c_stride_log = 3'd2;
    default: c_stride_good = 1'b0;
  endcase
end

// Doorbell: the state after a failed answer, the tail after judging.
logic [1:0] state5, state6, state7;
logic [IndexWidth-1:0] tail2, head6, tail7, head7, size7, limit7;
logic       bell_bad, limit_fires;

assign state5 = was_fail ? receive_queue_pkg::StateError : was_state;
assign tail2  = handed_over ? next_slot(was_tail, was_size) : was_tail;
always_comb begin
  case (state5)
    receive_queue_pkg::StateReady:
      bell_bad = bell_head >= was_size ||
                 (bell_head != was_head && distance(tail2, bell_head, was_size) <
                                               distance(tail2, was_head, was_size));
    receive_queue_pkg::StateError: bell_bad = 1'b0;
    default:                       bell_bad = 1'b1;
  endcase
  state6 = state5;
  head6  = was_head;
  if (bell_mine && bell_bad && state5 != receive_queue_pkg::StateInvalid)
    state6 = receive_queue_pkg::StateError;
  if (bell_mine && !bell_bad && state5 == receive_queue_pkg::StateReady) head6 = bell_head;
end

// Command.
assign c_ring_good = c_size != '0 && c_head < c_size &&
                     (c_base & ((c_op == 3'd0 ? c_stride_log : stride) == 3'd2 ? 14'd127 : 14'd63))
                         == '0;
assign limit_fires = handed_over && was_limit != '0 &&
                     distance(tail2, was_head, was_size) < was_limit;
always_comb begin
  c_allowed = 1'b0;
  case (c_op)
    3'd0: c_allowed = state6 == receive_queue_pkg::StateInvalid && c_ring_good && c_stride_good;
    3'd1: c_allowed = state6 == receive_queue_pkg::StateReady ||
                      state6 == receive_queue_pkg::StatePaused;
    3'd2: c_allowed = state6 == receive_queue_pkg::StateReady;
    3'd3: c_allowed = state6 == receive_queue_pkg::StatePaused && c_ring_good && c_tail < c_size;
    3'd4: c_allowed = state6 != receive_queue_pkg::StateInvalid;
    3'd5: c_allowed = 1'b1;
    default: c_allowed = 1'b0;
  endcase
  c_good = c_mine && c_allowed;
  c_load = c_good && (c_op == 3'd0 || c_op == 3'd3);
  state7 = state6;
  tail7  = tail2;
  head7  = head6;
  size7  = was_size;
  limit7 = limit_fires ? '0 : was_limit;
  if (c_load) begin
    state7 = receive_queue_pkg::StateReady;
    head7  = c_head;
    size7  = c_size;
    tail7  = c_op == 3'd0 ? '0 : c_tail;
  end
  if (c_good && c_op == 3'd0) limit7 = '0;
  if (c_good && c_op == 3'd1) limit7 = c_limit;
  if (c_good && c_op == 3'd2) state7 = receive_queue_pkg::StatePaused;
  if (c_good && c_op == 3'd4) state7 = receive_queue_pkg::StateError;
  if (c_good && c_op == 3'd5) state7 = receive_queue_pkg::StateInvalid;
  if (state7 == receive_queue_pkg::StateInvalid) begin
    head7  = '0;
    size7  = '0;
    tail7  = '0;
    limit7 = '0;
  end
end

always_ff @(posedge clk_i) begin
  if (c_load) begin
    base  <= c_base;
    lives <= !lives;
  end
  if (c_load && c_op == 3'd0) stride <= c_stride_log;
end

`ifndef NO_LEMMAS
// Lemmas: they hold the registers kept here against those of the unit, which shortens every proof.
always_comb begin
  if (rst_n && state != receive_queue_pkg::StateInvalid) begin
    `CHECK((c_load ? c_base : base) == (watched ? base_1 : base_0))
    `CHECK((c_load && c_op == 3'd0 ? c_stride_log : stride) ==
            (watched ? stride_1 : stride_0))
  end
  if (rst_n && (state == receive_queue_pkg::StateReady || state == receive_queue_pkg::StatePaused))
  begin
    `CHECK(size != '0 && size <= 3'd4 && head < size && tail < size && fetch < size)
    `CHECK(distance(tail, fetch, size) <= distance(tail, head, size))
  end
  if (rst_n) begin
    `CHECK(lines_free <= ($clog2(Lines + 1))'(Lines))
    // What the task receive_queue.idle takes for granted.
    `CHECK(needy == '0 || in_fifo)
  end
end
`endif
