// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Number of the one bit that is set; 0 for none. Combinational.
module one_hot_index #(
    parameter int unsigned Width = 8,
    parameter int unsigned IndexWidth = 3
) (
    input  logic [Width-1:0]      one_hot_i,
    output logic [IndexWidth-1:0] index_o
);

  for (genvar b = 0; b < IndexWidth; b++) begin : gen_bit
    // The positions whose number has bit b.
    logic [Width-1:0] with_bit;
    for (genvar i = 0; i < Width; i++) begin : gen_position
      assign with_bit[i] = 1'((i >> b) & 1);
    end
    assign index_o[b] = |(one_hot_i & with_bit);
  end

`ifdef FORMAL_ONE_HOT_INDEX
  `include "common/formal/one_hot_index.svh"
`endif

endmodule
