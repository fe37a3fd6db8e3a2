// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Properties of age_order, inside the module. Of two arbitrary entries it is remembered which one
// entered before the other.

(* anyconst *) logic [Entries-1:0] f_one, f_other;  // one-hot, different

logic               f_started = 1'b0;
logic [Entries-1:0] f_entered = '0;
logic               f_one_before;

always_comb begin
  assume (f_one != '0 && (f_one & (f_one - Entries'(1))) == '0);
  assume (f_other != '0 && (f_other & (f_other - Entries'(1))) == '0);
  assume (f_one != f_other);
  if (enter_i)
    assume (enter_one_hot_i != '0 &&
            (enter_one_hot_i & (enter_one_hot_i - Entries'(1))) == '0);
  assume ((first_set_i & ~f_entered) == '0);
  assume ((second_set_i & ~f_entered) == '0);
end

always_ff @(posedge clk_i) begin
  f_started <= 1'b1;
  if (enter_i) begin
    f_entered <= f_entered | enter_one_hot_i;
    if (enter_one_hot_i == f_one) f_one_before <= 1'b0;
    if (enter_one_hot_i == f_other) f_one_before <= 1'b1;
  end
end

// For the induction: the matrix is an order of all that have entered.
for (genvar i = 0; i < Entries; i++) begin : gen_formal_i
  for (genvar j = 0; j < Entries; j++) begin : gen_formal_j
    always_comb begin
      if (i == j) assert (!f_entered[i] || !gen_entry[i].older_q[i]);
      else if (f_entered[i] && f_entered[j]) begin
        assert (gen_entry[i].older_q[j] != gen_entry[j].older_q[i]);
        if (f_one[i] && f_other[j]) assert (gen_entry[j].older_q[i] == f_one_before);
      end
    end
    for (genvar k = 0; k < Entries; k++) begin : gen_formal_k
      always_comb begin
        if (f_entered[i] && f_entered[j] && f_entered[k] && gen_entry[j].older_q[i] &&
            gen_entry[k].older_q[j])
          assert (gen_entry[k].older_q[i]);
      end
    end
  end
end

always_comb begin
  assert ((first_oldest_o & ~first_set_i) == '0);
  assert ((first_oldest_o & (first_oldest_o - Entries'(1))) == '0);
  assert ((first_oldest_o != '0) == (first_set_i != '0));
  assert ((second_oldest_o & ~second_set_i) == '0);
  assert ((second_oldest_o & (second_oldest_o - Entries'(1))) == '0);
  assert ((second_oldest_o != '0) == (second_set_i != '0));
  if ((first_set_i & f_one) != '0 && (first_set_i & f_other) != '0)
    assert ((first_oldest_o & (f_one_before ? f_other : f_one)) == '0);
  if ((second_set_i & f_one) != '0 && (second_set_i & f_other) != '0)
    assert ((second_oldest_o & (f_one_before ? f_other : f_one)) == '0);
  cover (&first_set_i && first_oldest_o[Entries-1] && f_one_before);
  cover (&f_entered && first_oldest_o[0] && second_oldest_o[1] && first_set_i[1]);
end
