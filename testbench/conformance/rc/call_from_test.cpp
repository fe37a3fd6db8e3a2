// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// That posts, doorbells and polls come from where HCASIM_CALL_FROM says.
#include "support/call_from/call_from.hpp"
#include "connection.hpp"

namespace hcasim::testing {
namespace {

using support::CallFrom;

TEST(CallFromBench, WorkIsDoneThere) {
  Connection c;
  const auto calls = [&] { return c.bench.dma.interrupts(AdapterBench::kCallVector).size(); };
  const std::size_t handled = support::call_from() == CallFrom::kHandler ? 1 : 0;
  const std::size_t before = calls();
  bool in_method = false;
  c.bench.enter([&] { in_method = support::inside_method(); });
  EXPECT_EQ(in_method, support::call_from() == CallFrom::kMethod);
  EXPECT_EQ(calls(), before + handled);
  c.bench.post_send(c.qp, c.inline_wr());
  c.bench.ring_send(c.qp);
  c.bench.post_recv(c.qp, 1, {{c.area, 64, c.key}});
  c.bench.ring_recv(c.qp);
  c.bench.poll(c.qp.send_cq);
  EXPECT_EQ(calls(), before + 6 * handled);
}

}  // namespace
}  // namespace hcasim::testing
