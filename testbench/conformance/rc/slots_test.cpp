// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Slots of rings whose contents and sizes do not fit together.

#include "connection.hpp"

namespace hcasim::testing {
namespace {

// The slots of a send queue are as long as the driver says, if the fixed part fits and the adapter
// can fetch them.
TEST(SendSlots, B23_HoldTheFixedPartAtLeast) {
  AdapterBench bench;
  const BenchCq cq = bench.create_cq();
  for (const auto& [type, least] : {std::pair{AdapterBench::rc_context().type, 64u},
                                    std::pair{AdapterBench::ud_context().type, 128u}}) {
    for (const std::uint32_t stride : {0u, 1u, 32u, 63u, 64u, 65u, 127u, 128u, 1u << 20, ~0u}) {
      hw::QpContext context = AdapterBench::rc_context();
      context.type = type;
      context.qpn = 0x70;
      context.send_cqn = context.recv_cqn = cq.context.cqn;
      context.sq_base = 4096;
      context.sq_size = 4;
      context.rq_size = 0;
      context.sq_stride = stride;
      const bool fits = stride == least || stride == 128;
      EXPECT_EQ(bench.command(hw::CommandOpcode::kCreateQp, context.qpn, context),
                fits ? hw::CommandStatus::kOk : hw::CommandStatus::kBadParameter)
          << stride;
      EXPECT_EQ(bench.issue(hw::CommandOpcode::kDestroyQp, context.qpn).status,
                fits ? hw::CommandStatus::kOk : hw::CommandStatus::kBadObject);
    }
  }
}

// A receive that names more elements than its slot holds has none of those that another one left.
TEST(ReceiveSlots, B40_TooManyElementsAreNotThoseOfAnotherReceive) {
  hw::QpContext context = AdapterBench::rc_context();
  Connection c(context);
  context.rq_stride = 512;
  BenchQp other = c.bench.create_qp(context);
  std::vector<hw::Sge> many;
  for (std::uint64_t i = 0; i < 20; ++i) many.push_back({c.area + 4096 + 64 * i, 4, c.key});
  c.bench.receive(other, 1, many);
  c.settle();
  c.bench.arrive(other, c.send(500, 80));
  c.settle();
  EXPECT_EQ(statuses(c.bench.poll(other.recv_cq)), Statuses{hw::WcStatus::kSuccess});
  const std::size_t before = c.bench.dma.writes(c.area + 4096, 4096).size();

  c.bench.post_recv(c.qp, 2, {{c.area, 16, c.key}});
  auto wqe = c.bench.load<hw::ReceiveWqe>(c.qp.context.rq_base);
  wqe.num_sge = 255;
  c.bench.store(c.qp.context.rq_base, wqe);
  c.bench.ring_recv(c.qp);
  c.settle();
  c.arrive_and_settle(c.send(500, 32));
  EXPECT_EQ(c.bench.dma.writes(c.area + 4096, 4096).size(), before);
  EXPECT_EQ(statuses(c.receives()), Statuses{hw::WcStatus::kLocLenErr});
}

}  // namespace
}  // namespace hcasim::testing
