// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Rule 7: in ERROR every take is flushed, no fetch is chosen, and answers still under way have no
// effect. That no take is answered otherwise after the queue left READY is rule 3.

always_comb begin
  if (rst_n && was_running) begin
    if (was_state == receive_queue_pkg::StateError) begin
      `CHECK(!chosen_mine)
      if (judged_mine) begin
        `CHECK(take_rsp_status == receive_queue_pkg::TakeFlushed ||
                take_rsp_status == receive_queue_pkg::TakeFetchError ||
                take_rsp_status == receive_queue_pkg::TakeBadQueue)
      end
      if (!(c_mine && c_op == 3'd5)) begin
        `CHECK(state == receive_queue_pkg::StateError)
        `CHECK(head == was_head && size == was_size && limit == limit7)
        `CHECK(fetch == was_fetch && tail == was_tail)
      end
    end
    // Whoever leaves READY has nothing fetched.
    if (state == receive_queue_pkg::StateError || state == receive_queue_pkg::StatePaused) begin
      `CHECK(fetch == tail)
    end
  end
end
