// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Number of the lowest bit that is set. Combinational.
module lowest_bit #(
    parameter int unsigned Width = 8,
    parameter int unsigned IndexWidth = 3
) (
    input  logic [Width-1:0]      bits_i,
    output logic                  found_o,
    output logic [Width-1:0]      one_hot_o,
    output logic [IndexWidth-1:0] index_o    // 0 when nothing is found
);

  one_hot_index #(.Width(Width), .IndexWidth(IndexWidth)) u_index (
      .one_hot_i(one_hot_o),
      .index_o(index_o)
  );

  assign found_o   = |bits_i;
  assign one_hot_o = bits_i & (~bits_i + Width'(1));

`ifdef FORMAL_LOWEST_BIT
  `include "common/formal/lowest_bit.svh"
`endif

endmodule
