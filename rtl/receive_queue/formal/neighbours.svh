// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// The unit and its neighbours, who keep what README.md says they owe. Inputs are arbitrary in each
// cycle but for the assumptions here.

logic rst_n = 1'b0;
always_ff @(posedge clk_i) rst_n <= 1'b1;

// The queue that the rules are about.
logic watched, watched_q;
assign watched = rst_n ? watched_q : some_queue;
always_ff @(posedge clk_i) watched_q <= watched;

logic                    cmd_ready, cmd_rsp_valid, doorbell_ready, dma_req_valid, take_ready;
logic                    take_rsp_valid, take_rsp_last, event_valid, idle;
logic [1:0]              cmd_rsp_status, event_kind, state;
logic [2:0]              take_rsp_status;
logic [5:0]              dma_req_tag;
logic [AddressWidth-1:0] dma_req_address;
logic [12:0]             dma_req_bytes;
logic [TakeTagWidth-1:0] take_rsp_tag;
logic [IndexWidth-1:0]   take_rsp_slot, take_rsp_remaining, size, head, fetch, tail, limit;
logic [DataWidth-1:0]    take_rsp_wqe;
logic [QueueWidth-1:0]   event_queue;
logic [31:0]             event_value;
logic                    doorbell_done, bad_doorbell_done, command_done, request_failed, evicted;
logic                    limit_entered, fetch_error_entered;

receive_queue #(
    .Queues(Queues), .Takes(Takes), .Prefetch(Prefetch), .Tags(Tags), .FetchBytes(FetchBytes),
    .Lines(Lines), .Events(Events), .QueueWidth(QueueWidth), .AddressWidth(AddressWidth),
    .IndexWidth(IndexWidth), .TakeTagWidth(TakeTagWidth), .DataWidth(DataWidth)
) u_unit (
    .clk_i, .rst_ni(rst_n),
    .cmd_valid_i(cmd_valid), .cmd_ready_o(cmd_ready), .cmd_op_i(cmd_op), .cmd_queue_i(cmd_queue),
    .cmd_base_i(cmd_base), .cmd_size_i(cmd_size), .cmd_stride_i(cmd_stride), .cmd_head_i(cmd_head),
    .cmd_tail_i(cmd_tail), .cmd_limit_i(cmd_limit), .cmd_arm_i(cmd_arm),
    .cmd_rsp_valid_o(cmd_rsp_valid), .cmd_rsp_ready_i(cmd_rsp_ready),
    .cmd_rsp_status_o(cmd_rsp_status), .doorbell_valid_i(doorbell_valid),
    .doorbell_ready_o(doorbell_ready), .doorbell_queue_i(doorbell_queue),
    .doorbell_head_i(doorbell_head), .dma_req_valid_o(dma_req_valid),
    .dma_req_ready_i(dma_req_ready), .dma_req_tag_o(dma_req_tag),
    .dma_req_address_o(dma_req_address), .dma_req_bytes_o(dma_req_bytes),
    .dma_rsp_valid_i(dma_rsp_valid), .dma_rsp_tag_i(dma_rsp_tag), .dma_rsp_last_i(dma_rsp_last),
    .dma_rsp_error_i(dma_rsp_error), .dma_rsp_data_i(dma_rsp_data), .take_valid_i(take_valid),
    .take_ready_o(take_ready), .take_queue_i(take_queue),
    .take_tag_i({take_followed, take_kind, take_queue}), .take_kind_i(take_kind),
    .take_rsp_valid_o(take_rsp_valid), .take_rsp_ready_i(take_rsp_ready),
    .take_rsp_tag_o(take_rsp_tag), .take_rsp_status_o(take_rsp_status),
    .take_rsp_last_o(take_rsp_last), .take_rsp_slot_o(take_rsp_slot),
    .take_rsp_remaining_o(take_rsp_remaining), .take_rsp_wqe_o(take_rsp_wqe),
    .event_valid_o(event_valid), .event_ready_i(event_ready), .event_queue_o(event_queue),
    .event_kind_o(event_kind), .event_value_o(event_value), .idle_o(idle),
    .debug_queue_i({1'b0, watched}), .debug_state_o(state), .debug_size_o(size),
    .debug_head_o(head), .debug_fetch_o(fetch), .debug_tail_o(tail), .debug_limit_o(limit),
    .count_doorbells_o(doorbell_done), .count_bad_doorbells_o(bad_doorbell_done),
    .count_commands_o(command_done), .count_dma_requests_failed_o(request_failed),
    .count_evictions_o(evicted), .count_limit_events_o(limit_entered),
    .count_fetch_error_events_o(fetch_error_entered));

logic first_passed = 1'b0;
always_ff @(posedge clk_i) first_passed <= rst_n;

// An offer stays until it is accepted.
logic                                                cmd_kept, doorbell_kept, take_kept;
logic [3+QueueWidth+AddressWidth+4*IndexWidth+48-1:0] cmd_payload, cmd_kept_payload;
logic [QueueWidth+IndexWidth-1:0]                    doorbell_payload, doorbell_kept_payload;
logic [QueueWidth+1:0]                               take_payload, take_kept_payload;

assign cmd_payload      = {cmd_op, cmd_queue, cmd_base, cmd_size, cmd_stride, cmd_head, cmd_tail,
                           cmd_limit, cmd_arm};
assign doorbell_payload = {doorbell_queue, doorbell_head};
assign take_payload     = {take_followed, take_kind, take_queue};

always_ff @(posedge clk_i) begin
  cmd_kept              <= rst_n && cmd_valid && !cmd_ready;
  cmd_kept_payload      <= cmd_payload;
  doorbell_kept         <= rst_n && doorbell_valid && !doorbell_ready;
  doorbell_kept_payload <= doorbell_payload;
  take_kept             <= rst_n && take_valid && !take_ready;
  take_kept_payload     <= take_payload;
end

always_comb begin
  if (!rst_n) assume (!cmd_valid && !doorbell_valid && !take_valid && !dma_rsp_valid);
  if (rst_n && cmd_kept) assume (cmd_valid && cmd_payload == cmd_kept_payload);
  if (rst_n && doorbell_kept)
    assume (doorbell_valid && doorbell_payload == doorbell_kept_payload);
  if (rst_n && take_kept) assume (take_valid && take_payload == take_kept_payload);
  // Small rings; 128 is the largest stride of which two WQEs fit into the lines.
  assume (cmd_size <= 3'd4);
  assume (cmd_stride == 16'd0 || cmd_stride == 16'd32 || cmd_stride == 16'd64 ||
          cmd_stride == 16'd128);
  assume (cmd_base[AddressWidth-1] == cmd_queue[0]);
  assume (cmd_base[AddressWidth-2:0] <= 13'd7680);
  assume (cmd_arm == 32'd0);  // an arm number is carried, nothing more
  // What makes a proof reach further.
`ifdef STRIDE
  assume (cmd_stride == 16'd`STRIDE);
  assume (cmd_base == {cmd_queue[0], 13'd3968});  // 4096 less 128: a ring may cross a page
`endif
`ifdef ONE_QUEUE
  if (cmd_valid) assume (cmd_queue == {1'b0, watched});
  if (doorbell_valid) assume (doorbell_queue == {1'b0, watched});
  if (take_valid) assume (take_queue == {1'b0, watched});
`endif
`ifdef INIT_FIRST
  // The queue watched, which is queue 0, is started in the first cycle, with a ring of three slots.
  assume (!some_queue);
  if (rst_n && !first_passed)
    assume (cmd_valid && cmd_op == 3'd0 && cmd_queue == 2'd0 && cmd_size == 3'd3);
`endif
`ifdef READY_NEIGHBOURS
  // Answers and events are always taken.
  assume (cmd_rsp_ready && take_rsp_ready && event_ready && dma_req_ready);
`endif
`ifdef LIVES_ONLY
  if (cmd_valid) assume (cmd_op == 3'd0 || cmd_op == 3'd5);  // INIT, INVALIDATE
  assume (!doorbell_valid && !dma_rsp_error && !(take_valid && take_kind));
`endif
`ifdef NO_COMMANDS
  if (first_passed) assume (!cmd_valid);
`endif
end

// Host memory: each request is answered as it should be, or with an error, or too short. Of a tag:
logic [Tags-1:0]         asked = '0;  // its request is handshaken, and not answered to the end
logic [Tags-1:0]         asked_life;  // the life of the queue watched at that time
logic [AddressWidth-1:0] next_address_0, next_address_1;
logic [7:0]              beats_left_0, beats_left_1;
logic                    ask, answers, ends, answer_queue;
logic                    lives = 1'b0;  // the life of the queue watched
logic [AddressWidth-1:0] answer_address;
logic [7:0]              answer_left;

assign ask            = dma_req_valid && dma_req_ready;
assign answers        = dma_rsp_valid && dma_rsp_tag < 6'(Tags) && asked[dma_rsp_tag[0]];
assign ends           = answers && (dma_rsp_last || dma_rsp_error);
assign answer_address = dma_rsp_tag[0] ? next_address_1 : next_address_0;
assign answer_left    = dma_rsp_tag[0] ? beats_left_1 : beats_left_0;
assign answer_queue   = answer_address[AddressWidth-1];

always_ff @(posedge clk_i) begin
  if (answers && !dma_rsp_tag[0]) begin
    next_address_0 <= answer_address + 14'd64;
    beats_left_0   <= answer_left - 8'd1;
  end
  if (answers && dma_rsp_tag[0]) begin
    next_address_1 <= answer_address + 14'd64;
    beats_left_1   <= answer_left - 8'd1;
  end
  if (ends) asked[dma_rsp_tag[0]] <= 1'b0;
  if (ask) begin
    asked[dma_req_tag[0]]      <= 1'b1;
    asked_life[dma_req_tag[0]] <= lives;
  end
  if (ask && !dma_req_tag[0]) begin
    next_address_0 <= dma_req_address;
    beats_left_0   <= 8'((dma_req_bytes + 13'd63) >> 6);
  end
  if (ask && dma_req_tag[0]) begin
    next_address_1 <= dma_req_address;
    beats_left_1   <= 8'((dma_req_bytes + 13'd63) >> 6);
  end
end

// The tag of a request that waits on the port is not answered; one that nobody has asked for may be.
logic [DataWidth/2-1:0] memory_low, memory_high;
assign memory_low  = {asked_life[dma_rsp_tag[0]], answer_address[8:5]};
assign memory_high = {asked_life[dma_rsp_tag[0]], answer_address[8:5] + 4'd1};

always_comb begin
  if (dma_rsp_valid && dma_req_valid) assume (dma_rsp_tag != dma_req_tag);
  if (answers && answer_left == 8'd1) assume (dma_rsp_last);
  if (answers && answer_queue == watched) assume (dma_rsp_data == {memory_high, memory_low});
end
