// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Step 3: what the fetch stage does in a cycle, from the start of the cycle. Combinational.
module rq_fetch_stage #(
    parameter int unsigned Prefetch = 8,
    parameter int unsigned FetchBytes = 512,
    parameter int unsigned Lines = 64,
    parameter int unsigned AddressWidth = 64,
    parameter int unsigned IndexWidth = 16,
    parameter int unsigned PW = 3
) (
    input  logic                       free_i,         // dma_req is empty or accepted
    input  logic                       needy_i,        // there is a needy queue, and it is shown
    input  logic                       fifo_valid_i,   // else the head of the FIFO is
    input  logic                       tag_free_i,
    input  logic [$clog2(Lines+1)-1:0] lines_free_i,
    input  logic                       victim_valid_i,
    // the queue
    input  logic [1:0]                 state_i,
    input  logic [AddressWidth-1:0]    base_i,
    input  logic [2:0]                 stride_i,
    input  logic [IndexWidth-1:0]      size_i,
    input  logic [IndexWidth-1:0]      head_i,
    input  logic [IndexWidth-1:0]      fetch_i,
    input  logic [IndexWidth-1:0]      tail_i,
    input  logic [PW-1:0]              place_i,
    input  logic                       holds_i,        // a WQE of it is in the take_rsp register
    // what is done
    output logic                       fetch_o,
    output logic                       evict_o,
    output logic                       drop_o,
    output logic                       pop_o,
    output logic                       evict_wanted_o, // look for a victim
    output logic [7:0]                 slots_o,
    output logic [AddressWidth-1:0]    address_o,
    output logic [12:0]                bytes_o,
    output logic [IndexWidth-1:0]      next_o,         // fetch after it
    output logic [PW-1:0]              first_place_o,  // place of the first slot
    output logic [7:0]                 fetched_o       // fetch - tail before it
);

  // Wide enough for every count that limits a request.
  localparam int unsigned CW = 17;

  logic                  eligible, enough, go_fifo;
  logic [1:0]            lines_log;
  logic [IndexWidth-1:0] posted, fetched, to_end;
  logic [CW-1:0]         room, to_page, by_lines, by_bytes, held, least1, least2;
  logic [8:0]            place_sum;
  logic [IndexWidth:0]   next_sum;
  logic [3:0]            shift;

  function automatic logic [CW-1:0] least(input logic [CW-1:0] a, input logic [CW-1:0] b);
    least = a < b ? a : b;
  endfunction

  assign lines_log = stride_i == 3'd0 ? 2'd0 : 2'(stride_i - 3'd1);
  assign shift     = 4'(stride_i) + 4'd5;
  assign posted    = head_i >= fetch_i ? head_i - fetch_i : head_i - fetch_i + size_i;
  assign fetched   = fetch_i >= tail_i ? fetch_i - tail_i : fetch_i - tail_i + size_i;
  assign to_end    = size_i - fetch_i;
  assign held      = CW'(fetched) + CW'(holds_i);
  assign room      = CW'(Prefetch) - held;
  assign eligible  = state_i == receive_queue_pkg::StateReady && posted != '0 &&
                     held < CW'(Prefetch);
  assign by_lines  = CW'(lines_free_i) >> lines_log;
  assign enough    = by_lines != '0;
  assign by_bytes  = CW'(FetchBytes >> 5) >> stride_i;
  assign address_o = base_i + (AddressWidth'(fetch_i) << shift);
  assign to_page   = (CW'(4096) - CW'(address_o[11:0])) >> shift;

  assign least1  = least(least(CW'(posted), CW'(to_end)), room);
  assign least2  = least(to_page, by_bytes);
  assign slots_o = 8'(least(least(least1, by_lines), least2));
  assign bytes_o = 13'(slots_o) << shift;

  assign next_sum  = {1'b0, fetch_i} + (IndexWidth + 1)'(slots_o);
  assign next_o    = next_sum == {1'b0, size_i} ? '0 : next_sum[IndexWidth-1:0];
  assign fetched_o = 8'(fetched);

  assign place_sum     = 9'(place_i) + 9'(fetched_o);
  assign first_place_o = place_sum >= 9'(Prefetch) ? PW'(place_sum - 9'(Prefetch))
                                                   : PW'(place_sum);

  assign go_fifo        = free_i && !needy_i && fifo_valid_i;
  assign drop_o         = go_fifo && !eligible;
  assign fetch_o        = free_i && (needy_i || (fifo_valid_i && eligible)) && enough && tag_free_i;
  assign pop_o          = drop_o || (fetch_o && !needy_i);
  assign evict_wanted_o = free_i && needy_i && !enough;
  assign evict_o        = evict_wanted_o && victim_valid_i;

endmodule
