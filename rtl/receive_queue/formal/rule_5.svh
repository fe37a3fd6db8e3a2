// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Rule 5: doorbells. The state of the queue is what the tables make of doorbells, commands and failed
// answers; a bad doorbell, that of an unknown queue too, raises its event once, with what was given.

logic       event_entered, expected_known, events_fit, bell_is_bad;
logic [1:0] expected_kind;
logic [QueueWidth-1:0] expected_queue;
logic [IndexWidth-1:0]     expected_value;

assign event_entered = bad_doorbell_done || limit_entered || fetch_error_entered;
assign bell_is_bad   = bell_queue[1] || bell_bad;

formal_fifo #(.Width(2 + QueueWidth + IndexWidth)) u_expected (
    .clk_i, .rst_ni(rst_n), .push_i(event_entered),
    .data_i({bad_doorbell_done ? receive_queue_pkg::EventBadDoorbell
             : limit_entered   ? receive_queue_pkg::EventLimit
                               : receive_queue_pkg::EventFetchError, bell_queue, bell_head}),
    .pop_i(event_valid && event_ready), .valid_o(expected_known),
    .data_o({expected_kind, expected_queue, expected_value}), .fits_o(events_fit));

always_comb begin
  if (rst_n && was_running) begin
    `CHECK(doorbell_done == bell_accepted && command_done == c_accepted)
    `CHECK(events_fit)
    `CHECK(state == state7)
    `CHECK(head == head7)
    `CHECK(limit == limit7)
    // Of the other queue the state is not seen.
    if (bell_mine || (doorbell_done && bell_queue[1])) begin
      `CHECK(bad_doorbell_done == bell_is_bad)
    end
    if (bad_doorbell_done) begin
      `CHECK(doorbell_done)
    end
    `CHECK(2'(bad_doorbell_done) + 2'(limit_entered) + 2'(fetch_error_entered) <= 2'd1)
    `CHECK(event_valid == expected_known)
    if (event_valid) begin
      `CHECK(event_kind == expected_kind)
      if (event_kind == receive_queue_pkg::EventBadDoorbell) begin
        `CHECK(event_queue == expected_queue && event_value == 32'(expected_value))
      end
    end
  end
end
