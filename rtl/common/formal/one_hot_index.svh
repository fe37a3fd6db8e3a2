// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Properties of one_hot_index, inside the module, for an arbitrary position.

(* anyconst *) logic [IndexWidth-1:0] f_position;

always_comb begin
  assume ((IndexWidth + 1)'(f_position) < (IndexWidth + 1)'(Width));
  if (one_hot_i == (Width'(1) << f_position)) assert (index_o == f_position);
  if (one_hot_i == '0) assert (index_o == '0);
  cover (one_hot_i == (Width'(1) << f_position) && f_position != '0);
end
