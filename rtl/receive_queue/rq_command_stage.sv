// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Step 7 and the answer: the command register, the checks, and the cmd_rsp register.
module rq_command_stage #(
    parameter int unsigned IndexWidth = 16,
    parameter int unsigned QW = 6
) (
    input  logic                    clk_i,
    input  logic                    rst_ni,
    // the oldest command
    input  logic                    item_i,
    input  logic                    bells_done_i,    // all doorbells before it are accepted
    input  logic [2:0]              op_i,
    input  logic                    known_i,         // its queue number is below Queues
    input  logic [QW-1:0]           queue_i,
    input  logic [8:0]              base_low_i,
    input  logic [IndexWidth-1:0]   size_i,
    input  logic [15:0]             stride_i,
    input  logic [IndexWidth-1:0]   head_i,
    input  logic [IndexWidth-1:0]   tail_i,
    output logic                    taken_o,
    // its queue, after step 6
    input  logic [1:0]              state_i,
    input  logic [2:0]              queue_stride_i,
    // what happens to it
    output logic                    set_state_o,
    output logic [1:0]              state_o,
    output logic                    leave_o,         // drops what is buffered
    output logic                    flush_o,         // waiting takes are flushed
    output logic                    init_o,
    output logic                    load_o,          // base, size, head and tail are given
    output logic [IndexWidth-1:0]   load_tail_o,
    output logic                    limit_o,         // limit and arm are given
    output logic [2:0]              init_stride_o,
    output logic                    count_requests_o,// the answer waits for requests and takes
    output logic                    count_takes_o,
    // the answer
    input  logic                    quiet_i,
    output logic [QW-1:0]           query_queue_o,
    input  logic [1:0]              query_state_i,
    input  logic [IndexWidth-1:0]   query_size_i,
    input  logic [IndexWidth-1:0]   query_head_i,
    input  logic [IndexWidth-1:0]   query_fetch_i,
    input  logic [IndexWidth-1:0]   query_tail_i,
    input  logic [IndexWidth-1:0]   query_limit_i,
    output logic                    rsp_valid_o,
    input  logic                    rsp_ready_i,
    output logic [1:0]              rsp_status_o,
    output logic [1:0]              rsp_state_o,
    output logic [IndexWidth-1:0]   rsp_size_o,
    output logic [IndexWidth-1:0]   rsp_head_o,
    output logic [IndexWidth-1:0]   rsp_fetch_o,
    output logic [IndexWidth-1:0]   rsp_tail_o,
    output logic [IndexWidth-1:0]   rsp_limit_o,
    output logic                    at_rest_next_o   // neither busy nor answering in the next cycle
);

  logic          busy_q, busy_d, known_q, waits_q, answer;
  logic [1:0]    status_q;
  logic [QW-1:0] queue_q;
  logic          rsp_valid_q, rsp_valid_d;

  // Checks.
  logic        allowed, arguments, live, init, resume, pause, to_error, invalidate, ok;
  logic        stride_good, ring_good;
  logic [2:0]  init_stride, ring_stride;
  logic [8:0]  misaligned;
  logic [1:0]  status;

  assign init       = op_i == receive_queue_pkg::OpInit;
  assign resume     = op_i == receive_queue_pkg::OpResume;
  assign pause      = op_i == receive_queue_pkg::OpPause;
  assign to_error   = op_i == receive_queue_pkg::OpToError;
  assign invalidate = op_i == receive_queue_pkg::OpInvalidate;
  assign live       = state_i != receive_queue_pkg::StateInvalid;

  always_comb begin
    stride_good = 1'b1;
    init_stride = 3'd0;
    case (stride_i)
      16'd32:  init_stride = 3'd0;
      16'd64:  init_stride = 3'd1;
      16'd128: init_stride = 3'd2;
      16'd256: init_stride = 3'd3;
      16'd512: init_stride = 3'd4;
      default: stride_good = 1'b0;
    endcase
  end
  assign ring_stride = init ? init_stride : queue_stride_i;
  // The low bits of base that must be zero: those below max(64, stride).
  assign misaligned  = base_low_i & ((9'd64 << (ring_stride == 3'd0 ? 3'd0 : ring_stride - 3'd1)) -
                                      9'd1);
  assign ring_good   = size_i != '0 && misaligned == 9'd0 && head_i < size_i;

  always_comb begin
    allowed   = 1'b1;
    arguments = 1'b1;
    case (op_i)
      receive_queue_pkg::OpInit: begin
        allowed   = !live;
        arguments = ring_good && stride_good;
      end
      receive_queue_pkg::OpSetLimit:
        allowed = state_i == receive_queue_pkg::StateReady ||
                  state_i == receive_queue_pkg::StatePaused;
      receive_queue_pkg::OpPause:   allowed = state_i == receive_queue_pkg::StateReady;
      receive_queue_pkg::OpResume: begin
        allowed   = state_i == receive_queue_pkg::StatePaused;
        arguments = ring_good && tail_i < size_i;
      end
      receive_queue_pkg::OpToError: allowed = live;
      default:                      allowed = 1'b1;
    endcase
  end

  always_comb begin
    status = receive_queue_pkg::CommandOk;
    if (!arguments) status = receive_queue_pkg::CommandBadArgument;
    if (!allowed) status = receive_queue_pkg::CommandBadState;
    if (op_i == receive_queue_pkg::OpUndefined) status = receive_queue_pkg::CommandBadArgument;
    if (!known_i) status = receive_queue_pkg::CommandBadQueue;
  end

  assign taken_o = item_i && bells_done_i && !busy_q && !rsp_valid_q;
  assign ok      = taken_o && status == receive_queue_pkg::CommandOk;

  // Effects.
  assign init_o           = ok && init;
  assign load_o           = ok && (init || resume);
  assign load_tail_o      = init ? '0 : tail_i;
  assign limit_o          = ok && (init || op_i == receive_queue_pkg::OpSetLimit);
  assign leave_o          = ok && (pause || to_error || invalidate);
  assign flush_o          = ok && (to_error || invalidate);
  assign set_state_o      = load_o || leave_o;
  assign init_stride_o    = init_stride;
  assign count_requests_o = leave_o;
  assign count_takes_o    = flush_o;
  always_comb begin
    state_o = receive_queue_pkg::StateReady;
    if (pause) state_o = receive_queue_pkg::StatePaused;
    if (to_error) state_o = receive_queue_pkg::StateError;
    if (invalidate) state_o = receive_queue_pkg::StateInvalid;
  end

  // The answer, from the cycle after acceptance on.
  assign answer         = busy_q && (!waits_q || quiet_i);
  assign busy_d         = taken_o || (busy_q && !answer);
  assign rsp_valid_d    = answer || (rsp_valid_q && !rsp_ready_i);
  assign at_rest_next_o = !busy_d && !rsp_valid_d;
  assign query_queue_o  = queue_q;
  assign rsp_valid_o    = rsp_valid_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q      <= 1'b0;
      rsp_valid_q <= 1'b0;
    end else begin
      busy_q      <= busy_d;
      rsp_valid_q <= rsp_valid_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (taken_o) begin
      queue_q  <= queue_i;
      known_q  <= known_i;
      status_q <= status;
      waits_q  <= leave_o;
    end
    if (answer) begin
      rsp_status_o <= status_q;
      rsp_state_o  <= known_q ? query_state_i : 2'd0;
      rsp_size_o   <= known_q ? query_size_i : '0;
      rsp_head_o   <= known_q ? query_head_i : '0;
      rsp_fetch_o  <= known_q ? query_fetch_i : '0;
      rsp_tail_o   <= known_q ? query_tail_i : '0;
      rsp_limit_o  <= known_q ? query_limit_i : '0;
    end
  end

endmodule
