// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Number of the lowest bit that is set. Combinational. A wide vector is looked through in two steps:
// the lowest word of 64 bits that has one, then the bit.
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
    logic [Words-1:0]          has, unused_has;
    logic [WordIndexWidth-1:0] word;
    logic [63:0]               chosen, unused_chosen;
    logic [5:0]                bit_index;
    logic                      unused_bit;

    assign padded = (Words * 64)'(bits_i);
    for (genvar w = 0; w < Words; w++) begin : gen_word
      assign has[w] = |padded[w*64 +: 64];
    end
    lowest_bit #(.Width(Words), .IndexWidth(WordIndexWidth)) u_word (
        .bits_i(has), .found_o(found_o), .one_hot_o(unused_has), .index_o(word));
    assign chosen = padded[{word, 6'd0} +: 64];
    lowest_bit #(.Width(64), .IndexWidth(6)) u_bit (
        .bits_i(chosen), .found_o(unused_bit), .one_hot_o(unused_chosen), .index_o(bit_index));
    assign index_o = IndexWidth'({word, bit_index});
    always_comb begin
      one_hot_o = '0;
      one_hot_o[index_o] = found_o;
    end
  end

endmodule
