// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Properties of lowest_bit, inside the module, for an arbitrary position.

(* anyconst *) logic [IndexWidth-1:0] f_position;

always_comb begin
  assume ((IndexWidth + 1)'(f_position) < (IndexWidth + 1)'(Width));
  assert (found_o == (bits_i != '0));
  assert ((one_hot_o != '0) == found_o);
  assert ((one_hot_o & (one_hot_o - Width'(1))) == '0);
  if (one_hot_o[f_position]) assert (bits_i[f_position] && index_o == f_position);
  if (bits_i[f_position]) assert (index_o <= f_position);
  if (!found_o) assert (index_o == '0);
  cover (one_hot_o[Width-1]);
  cover (&bits_i && found_o);
end
