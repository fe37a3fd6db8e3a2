// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// A small receive-queue unit among neighbours that do what they please within their duties, and the
// rules of the contract for one queue, which is arbitrary. Everything is seen from the ports, those
// for observation included.
//
// To tell whose answer and whose request it is, a take's tag holds its queue and kind, and the ring
// of queue 1 lies in the upper half of the addresses, that of queue 0 in the lower; the unit makes
// nothing of either. Half a beat of data holds the life of the queue, that is how often it was started
// (modulo 2), and the place in its ring's memory.
`include "receive_queue/formal/checks.svh"

module receive_queue_formal #(
    parameter int unsigned Takes = 2,
    parameter int unsigned Prefetch = 2,
    parameter int unsigned Lines = 4,
    parameter int unsigned FetchBytes = 128,
    parameter int unsigned Events = 2
) (
    input logic        clk_i,
    // arbitrary, but for what neighbours.svh assumes
    input logic        cmd_valid,
    input logic [2:0]  cmd_op,
    input logic [1:0]  cmd_queue,
    input logic [13:0] cmd_base,
    input logic [2:0]  cmd_size,
    input logic [15:0] cmd_stride,
    input logic [2:0]  cmd_head,
    input logic [2:0]  cmd_tail,
    input logic [2:0]  cmd_limit,
    input logic [31:0] cmd_arm,
    input logic        cmd_rsp_ready,
    input logic        doorbell_valid,
    input logic [1:0]  doorbell_queue,
    input logic [2:0]  doorbell_head,
    input logic        dma_req_ready,
    input logic        dma_rsp_valid,
    input logic [5:0]  dma_rsp_tag,
    input logic        dma_rsp_last,
    input logic        dma_rsp_error,
    input logic [9:0]  dma_rsp_data,
    input logic        take_valid,
    input logic        take_followed,  // of rule 3
    input logic        take_kind,
    input logic [1:0]  take_queue,
    input logic        take_rsp_ready,
    input logic        event_ready,
    input logic        some_queue
);

  localparam int unsigned Queues = 2;
  localparam int unsigned Tags = 2;
  localparam int unsigned QueueWidth = 2;
  localparam int unsigned AddressWidth = 14;
  localparam int unsigned IndexWidth = 3;
  localparam int unsigned TakeTagWidth = 4;  // {followed, kind, queue}
  localparam int unsigned DataWidth = 10;    // two of {life, 4 bits of the address}

`include "receive_queue/formal/neighbours.svh"
`include "receive_queue/formal/observed.svh"
`ifdef RULE_1
`include "receive_queue/formal/rule_1.svh"
`endif
`ifdef RULE_2
`include "receive_queue/formal/rule_2.svh"
`endif
`ifdef RULE_3
`include "receive_queue/formal/rule_3.svh"
`endif
`ifdef RULE_5
`include "receive_queue/formal/rule_5.svh"
`endif
`ifdef RULE_7
`include "receive_queue/formal/rule_7.svh"
`endif
`ifdef RULE_9
`include "receive_queue/formal/rule_9.svh"
`endif
`ifdef RULE_11
`include "receive_queue/formal/rule_11.svh"
`endif
`ifdef COVERS
`include "receive_queue/formal/covers.svh"
`endif

endmodule
