// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// An idle unit without a valid input stays as it is: every register of it, whatever the readys, and so
// every output. tools/prove connects `now` to all registers of the unit but those that tasks.toml
// leaves out. There is no reset and the registers begin with any values, reachable or not: so three
// cycles of bounded proof are the step of an induction, and it needs no base.
`include "receive_queue/formal/checks.svh"

module idle_formal (
    input logic        clk_i,
    input logic        cmd_valid, cmd_rsp_ready, doorbell_valid, dma_req_ready, dma_rsp_valid,
    input logic        dma_rsp_last, dma_rsp_error, take_valid, take_kind, take_rsp_ready, event_ready,
    input logic [2:0]  cmd_op,
    input logic [1:0]  cmd_queue, doorbell_queue, take_queue, take_tag, debug_queue,
    input logic [12:0] cmd_base,
    input logic [2:0]  cmd_size, cmd_head, cmd_tail, cmd_limit, doorbell_head,
    input logic [15:0] cmd_stride,
    input logic [31:0] cmd_arm,
    input logic [5:0]  dma_rsp_tag,
    input logic [7:0]  dma_rsp_data
);

  (* keep *) logic [1023:0] now;
  (* keep *) logic [1:0]    needy;  // takes that wait for a fetch of their queue
  (* keep *) logic          in_fifo;

  logic          started = 1'b0;  // the unit has made a step, so that its registers fit together
  logic          idle, idle_before = 1'b0;
  logic          event_valid, take_rsp_valid, dma_req_valid, cmd_rsp_valid, cmd_ready, take_ready;
  logic          doorbell_ready;
  logic [1023:0] before;

  receive_queue #(
      .Queues(2), .Takes(2), .Prefetch(2), .Tags(2), .Lines(16), .Events(2), .QueueWidth(2),
      .AddressWidth(13), .IndexWidth(3), .TakeTagWidth(2), .DataWidth(8)
  ) u_unit (
      .clk_i, .rst_ni(1'b1),
      .cmd_valid_i(cmd_valid), .cmd_ready_o(cmd_ready), .cmd_op_i(cmd_op), .cmd_queue_i(cmd_queue),
      .cmd_base_i(cmd_base), .cmd_size_i(cmd_size), .cmd_stride_i(cmd_stride),
      .cmd_head_i(cmd_head), .cmd_tail_i(cmd_tail), .cmd_limit_i(cmd_limit), .cmd_arm_i(cmd_arm),
      .cmd_rsp_valid_o(cmd_rsp_valid), .cmd_rsp_ready_i(cmd_rsp_ready),
      .doorbell_valid_i(doorbell_valid), .doorbell_ready_o(doorbell_ready),
      .doorbell_queue_i(doorbell_queue), .doorbell_head_i(doorbell_head),
      .dma_req_valid_o(dma_req_valid), .dma_req_ready_i(dma_req_ready),
      .dma_rsp_valid_i(dma_rsp_valid), .dma_rsp_tag_i(dma_rsp_tag), .dma_rsp_last_i(dma_rsp_last),
      .dma_rsp_error_i(dma_rsp_error), .dma_rsp_data_i(dma_rsp_data), .take_valid_i(take_valid),
      .take_ready_o(take_ready), .take_queue_i(take_queue), .take_tag_i(take_tag),
      .take_kind_i(take_kind), .take_rsp_valid_o(take_rsp_valid),
      .take_rsp_ready_i(take_rsp_ready), .event_valid_o(event_valid), .event_ready_i(event_ready),
      .idle_o(idle), .debug_queue_i(debug_queue));

  always_ff @(posedge clk_i) begin
    started     <= 1'b1;
    idle_before <= started && idle && !cmd_valid && !doorbell_valid && !take_valid && !dma_rsp_valid;
    before      <= now;
  end

  always_comb begin
    // That a queue with a needy take is in the fetch FIFO is checked by the tasks of the rules, to their
    // depth.
    assume (needy == '0 || in_fifo);
    if (idle_before) begin
      `CHECK(idle)
      `CHECK(now == before)
    end
    if (started && idle) begin
      `CHECK(!cmd_rsp_valid && !dma_req_valid && !take_rsp_valid && !event_valid)
    end
    `REACH(idle_before && !take_ready)
    `REACH(idle_before && cmd_rsp_ready && take_rsp_ready)
  end

endmodule
