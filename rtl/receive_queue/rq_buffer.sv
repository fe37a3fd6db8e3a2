// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// The shared buffer of lines. A request reserves its lines by number when it is chosen; a beat gets
// the lowest free line when it arrives. The lines of a WQE are chained; the first stands in a table
// by queue and place (a queue has Prefetch places, which its slots use in turn). Two WQEs of 32 bytes
// that came in one beat share a line, though they have reserved two.
module rq_buffer #(
    parameter int unsigned Lines = 64,
    parameter int unsigned DataWidth = 512,
    parameter int unsigned QW = 6,
    parameter int unsigned PW = 3,
    parameter int unsigned LW = 6,
    parameter int unsigned StampWidth = 48
) (
    input  logic                       clk_i,
    input  logic                       rst_ni,
    // lines that are not reserved, and what changes their number in this cycle
    output logic [$clog2(Lines+1)-1:0] free_o,
    input  logic [$clog2(Lines+1)-1:0] reserve_i,
    input  logic [$clog2(Lines+1)-1:0] release1_i,
    input  logic [$clog2(Lines+1)-1:0] release2_i,
    input  logic [$clog2(Lines+1)-1:0] release3_i,
    input  logic [$clog2(Lines+1)-1:0] release4_i,
    input  logic [$clog2(Lines+1)-1:0] release5_i,
    // the first line of the WQE that judging looks at, and the next beat of the answer
    input  logic [QW-1:0]              find_queue_i,
    input  logic [PW-1:0]              find_place_i,
    output logic [LW-1:0]              find_line_o,
    output logic                       find_upper_o,   // upper half of a shared line
    output logic                       find_last_o,    // last WQE of its request
    input  logic [PW-1:0]              after_place_i,  // of the WQE after it
    output logic [StampWidth-1:0]      after_stamp_o,  // request of that, if it has arrived
    input  logic [LW-1:0]              read_line_i,
    output logic [DataWidth-1:0]       read_data_o,
    output logic [LW-1:0]              read_next_o,
    input  logic                       read_free_i,    // the line read is free from now on
    // the rest of an answer that must stay when its queue drops its lines
    input  logic                       keep_i,
    input  logic [QW-1:0]              keep_queue_i,
    input  logic [PW-1:0]              keep_place_i,
    // a beat is stored
    input  logic                       store_i,
    input  logic [DataWidth-1:0]       store_data_i,
    input  logic [QW-1:0]              store_queue_i,
    input  logic [PW-1:0]              store_place_i,  // of its WQE
    input  logic                       store_first_i,  // first beat of its WQE
    input  logic [LW-1:0]              store_prev_i,   // else the line of the beat before
    input  logic                       store_last_i,   // its WQE is the last of the request
    input  logic [StampWidth-1:0]      store_stamp_i,
    input  logic                       store_two_i,    // two WQEs in the beat
    input  logic [PW-1:0]              store_place2_i,
    input  logic                       store_last2_i,
    output logic [LW-1:0]              store_line_o,
    // queues that drop what is buffered
    input  logic                       evict_i,
    input  logic [QW-1:0]              victim_i,
    input  logic                       beat_leave_i,   // of store_queue_i
    input  logic                       bell_leave_i,
    input  logic [QW-1:0]              bell_queue_i,
    input  logic                       cmd_leave_i,
    input  logic [QW-1:0]              cmd_queue_i
);

  localparam int unsigned CW = $clog2(Lines + 1);
  localparam int unsigned Places = 1 << (QW + PW);

  logic [CW-1:0]        free_q;
  logic [Lines-1:0]     used_q, used_d, unused_one_hot;
  logic [DataWidth-1:0] data_q   [0:Lines-1];
  logic [LW-1:0]        next_q   [0:Lines-1];
  logic [QW-1:0]        owner_q  [0:Lines-1];
  logic [PW-1:0]        place_q  [0:Lines-1];
  logic [LW+1:0]         where_q  [0:Places-1];  // {last, upper, line} of a WQE
  logic [StampWidth-1:0] stamp_q  [0:Places-1];  // its request
  logic                 any_leave, unused_found;

  lowest_bit #(.Width(Lines), .IndexWidth(LW)) u_lowest (
      .bits_i(~used_q), .found_o(unused_found), .one_hot_o(unused_one_hot),
      .index_o(store_line_o));

  assign free_o = free_q;
  assign {find_last_o, find_upper_o, find_line_o} = where_q[{find_queue_i, find_place_i}];
  assign after_stamp_o = stamp_q[{find_queue_i, after_place_i}];
  assign read_data_o = data_q[read_line_i];
  assign read_next_o = next_q[read_line_i];
  assign any_leave   = evict_i || beat_leave_i || bell_leave_i || cmd_leave_i;

  always_comb begin
    used_d = used_q;
    if (any_leave) begin
      for (int unsigned i = 0; i < Lines; i++) begin
        if (((evict_i && owner_q[i] == victim_i) || (beat_leave_i && owner_q[i] == store_queue_i) ||
             (bell_leave_i && owner_q[i] == bell_queue_i) ||
             (cmd_leave_i && owner_q[i] == cmd_queue_i)) &&
            !(keep_i && owner_q[i] == keep_queue_i && place_q[i] == keep_place_i))
          used_d[i] = 1'b0;
      end
    end
    if (read_free_i) used_d[read_line_i] = 1'b0;
    if (store_i && !(bell_leave_i && store_queue_i == bell_queue_i) &&
        !(cmd_leave_i && store_queue_i == cmd_queue_i))
      used_d[store_line_o] = 1'b1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      free_q <= CW'(Lines);
      used_q <= '0;
    end else begin
      free_q <= free_q - reserve_i + release1_i + release2_i + release3_i + release4_i + release5_i;
      used_q <= used_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (store_i) begin
      data_q[store_line_o]  <= store_data_i;
      owner_q[store_line_o] <= store_queue_i;
      place_q[store_line_o] <= store_place_i;
      if (store_first_i) begin
        where_q[{store_queue_i, store_place_i}] <= {store_last_i, 1'b0, store_line_o};
        stamp_q[{store_queue_i, store_place_i}] <= store_stamp_i;
      end else begin
        next_q[store_prev_i] <= store_line_o;
      end
      if (store_two_i) begin
        where_q[{store_queue_i, store_place2_i}] <= {store_last2_i, 1'b1, store_line_o};
        stamp_q[{store_queue_i, store_place2_i}] <= store_stamp_i;
      end
    end
  end

endmodule
