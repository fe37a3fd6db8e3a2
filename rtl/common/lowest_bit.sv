// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Number of the lowest bit that is set. Combinational. A wide vector is looked through in two
// steps: the lowest word of 64 bits that has one, then the bit.
module lowest_bit #(
    parameter int unsigned Width = 8,
    parameter int unsigned IndexWidth = 3
) (
    input  logic [Width-1:0]      bits_i,
    output logic                  found_o,
    output logic [Width-1:0]      one_hot_o,
    output logic [IndexWidth-1:0] index_o    // 0 when nothing is found
);

  if (Width <= 64) begin : gen_narrow
    one_hot_index #(.Width(Width), .IndexWidth(IndexWidth)) u_index (
        .one_hot_i(one_hot_o),
        .index_o(index_o)
    );
    assign found_o   = |bits_i;
    assign one_hot_o = bits_i & (~bits_i + Width'(1));
  end else begin : gen_wide
    localparam int unsigned Words = (Width + 63) / 64;
    localparam int unsigned WordIndexWidth = $clog2(Words);

    logic [Words*64-1:0]       padded;
    logic [Words-1:0]          has, lowest_word;
    logic [WordIndexWidth-1:0] word;
    logic [63:0]               chosen, lowest_one;
    logic [5:0]                bit_index;

    assign padded = (Words * 64)'(bits_i);
    for (genvar w = 0; w < Words; w++) begin : gen_word
      assign has[w] = |padded[w*64 +: 64];
    end
    assign lowest_word = has & (~has + Words'(1));
    one_hot_index #(.Width(Words), .IndexWidth(WordIndexWidth)) u_word (
        .one_hot_i(lowest_word), .index_o(word));
    assign chosen     = padded[{word, 6'd0} +: 64];
    assign lowest_one = chosen & (~chosen + 64'd1);
    one_hot_index #(.Width(64), .IndexWidth(6)) u_bit (
        .one_hot_i(lowest_one), .index_o(bit_index));
    assign found_o = |has;
    assign index_o = IndexWidth'({word, bit_index});
    always_comb begin
      one_hot_o = '0;
      one_hot_o[index_o] = found_o;
    end
  end

`ifdef FORMAL_LOWEST_BIT
  `include "common/formal/lowest_bit.svh"
`endif

endmodule
