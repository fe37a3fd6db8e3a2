// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// The take_rsp register: the beat on the port and where the next beat of the answer lies. A line is
// free for the next beat of dma_rsp when it has been read; its reservation ends with the answer.
module rq_take_rsp #(
    parameter int unsigned IndexWidth = 16,
    parameter int unsigned TakeTagWidth = 32,
    parameter int unsigned DataWidth = 512,
    parameter int unsigned QueueWidth = 24,
    parameter int unsigned QW = 6,
    parameter int unsigned PW = 3,
    parameter int unsigned LW = 6
) (
    input  logic                    clk_i,
    input  logic                    rst_ni,
    // port
    output logic                    valid_o,
    input  logic                    ready_i,
    output logic [TakeTagWidth-1:0] tag_o,
    output logic [2:0]              status_o,
    output logic                    last_o,
    output logic [IndexWidth-1:0]   slot_o,
    output logic [IndexWidth-1:0]   remaining_o,
    output logic [DataWidth-1:0]    wqe_o,
    // start of the cycle
    output logic                    free_o,        // empty, or the last beat is accepted
    output logic                    done_o,        // the last beat is accepted
    output logic                    freed_o,       // and the answer was a WQE
    output logic [1:0]              freed_log_o,   // log2 of its lines
    output logic                    holds_o,       // holds a WQE
    output logic [QW-1:0]           holds_queue_o,
    output logic                    quiet_o,       // no answer that a command waits for
    // an answer is judged
    input  logic                    judged_i,
    input  logic                    consume_i,
    input  logic                    counted_i,     // a command waits for it
    input  logic [QueueWidth-1:0]   queue_i,
    input  logic [TakeTagWidth-1:0] tag_i,
    input  logic [2:0]              status_i,
    input  logic [IndexWidth-1:0]   slot_i,
    input  logic [IndexWidth-1:0]   remaining_i,
    input  logic [2:0]              stride_i,
    input  logic [PW-1:0]           place_i,
    input  logic [LW-1:0]           line_i,
    input  logic                    upper_i,       // in the upper half of a shared line
    input  logic                    last_wqe_i,    // last of its request
    // lines
    output logic [LW-1:0]           read_line_o,
    input  logic [DataWidth-1:0]    read_data_i,
    input  logic [LW-1:0]           read_next_i,
    output logic                    read_free_o,
    // after step 2: further lines belong to the answer
    output logic                    keep_o,
    output logic [PW-1:0]           keep_place_o,
    output logic                    holds_next_o,  // after step 2: holds a WQE
    output logic [QW-1:0]           holds_next_queue_o,
    output logic                    valid_next_o,
    // step 7: a command counts the answers of its queue
    input  logic                    cmd_count_i,
    input  logic [QW-1:0]           cmd_queue_i
);

  localparam int unsigned HalfWidth = DataWidth / 2;

  logic                    valid_q, last_q, holds_q, counted_q, advance, counted_next;
  logic [QueueWidth-1:0]   queue_q, queue_d;
  logic [TakeTagWidth-1:0] tag_q;
  logic [2:0]              status_q, left_q, left_d, beats_less_1;
  logic [IndexWidth-1:0]   slot_q, remaining_q;
  logic [DataWidth-1:0]    data_q;
  logic [1:0]              log_q, lines_log;
  logic [LW-1:0]           line_q;  // of the next beat
  logic [PW-1:0]           place_q;

  assign valid_o     = valid_q;
  assign tag_o       = tag_q;
  assign status_o    = status_q;
  assign last_o      = last_q;
  assign slot_o      = slot_q;
  assign remaining_o = remaining_q;
  assign wqe_o       = data_q;

  assign done_o        = valid_q && ready_i && last_q;
  assign free_o        = !valid_q || done_o;
  assign freed_o       = done_o && holds_q;
  assign freed_log_o   = log_q;
  assign holds_o       = holds_q;
  assign holds_queue_o = queue_q[QW-1:0];
  assign quiet_o       = !counted_q;

  assign advance      = valid_q && ready_i && !last_q;
  assign lines_log    = stride_i == 3'd0 ? 2'd0 : 2'(stride_i - 3'd1);
  assign beats_less_1 = 3'((4'd1 << lines_log) - 4'd1);

  assign read_line_o = advance ? line_q : line_i;
  assign read_free_o = advance || (consume_i && (stride_i != 3'd0 || upper_i || last_wqe_i));

  assign valid_next_o       = judged_i || (valid_q && !done_o);
  assign holds_next_o       = judged_i ? consume_i : holds_q && !done_o;
  assign queue_d            = judged_i ? queue_i : queue_q;
  assign holds_next_queue_o = queue_d[QW-1:0];
  assign keep_place_o       = judged_i ? place_i : place_q;
  always_comb begin
    left_d = left_q;
    if (judged_i) left_d = consume_i ? beats_less_1 : 3'd0;
    else if (advance) left_d = left_q - 3'd1;
  end
  assign keep_o       = holds_next_o && left_d != 3'd0;
  assign counted_next = judged_i ? counted_i : counted_q && !done_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q   <= 1'b0;
      holds_q   <= 1'b0;
      counted_q <= 1'b0;
    end else begin
      valid_q   <= valid_next_o;
      holds_q   <= holds_next_o;
      counted_q <= cmd_count_i ? valid_next_o && queue_d == QueueWidth'(cmd_queue_i)
                               : counted_next;
    end
  end

  always_ff @(posedge clk_i) begin
    left_q <= left_d;
    last_q <= left_d == 3'd0;
    if (judged_i) begin
      queue_q     <= queue_i;
      tag_q       <= tag_i;
      status_q    <= status_i;
      slot_q      <= slot_i;
      remaining_q <= remaining_i;
      log_q       <= lines_log;
      place_q     <= place_i;
    end
    if (judged_i || advance) line_q <= read_next_i;
    if (consume_i && stride_i == 3'd0)
      data_q <= {HalfWidth'(0), upper_i ? read_data_i[DataWidth-1:HalfWidth]
                                        : read_data_i[HalfWidth-1:0]};
    else if (consume_i || advance) data_q <= read_data_i;
    else if (judged_i) data_q <= '0;
  end

endmodule
