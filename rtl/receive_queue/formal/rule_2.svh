// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Rule 2: no slot is handed over that was not posted, and no request reads one that was not posted or
// is outside the ring. What is posted follows from the commands and doorbells alone.

logic [12:0] asked_slots;
assign asked_slots = dma_req_bytes >> shift;

always_comb begin
  if (rst_n && was_running) begin
    `CHECK(head == head7)
    `CHECK(size == size7)
    if (handed_over) begin
      `CHECK(was_head != was_tail)
      `CHECK(take_rsp_slot < was_size)
    end
    if (chosen_mine) begin
      `CHECK(was_state == receive_queue_pkg::StateReady)
      `CHECK(dma_req_address == base + (AddressWidth'(was_fetch) << shift))
      `CHECK(asked_slots != '0 && (asked_slots << shift) == dma_req_bytes)
      `CHECK(asked_slots <= 13'(distance(was_fetch, was_head, was_size)))
      `CHECK(13'(was_fetch) + asked_slots <= 13'(was_size))
    end
  end
end
