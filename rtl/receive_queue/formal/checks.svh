// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// A run of tools/prove either checks or looks for covers; abc knows assertions only, so there a cover
// is an assertion that it is never reached.
`ifdef FORMAL_COVER
  `define CHECK(what)
  `define REACH(what) assert (!(what));
`else
  `define CHECK(what) assert (what);
  `define REACH(what) cover (what);
`endif
