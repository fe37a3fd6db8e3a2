// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "support/adapter_bench/adapter_bench.hpp"

namespace hcasim::testing {

/// A shared receive queue whose owner is the test, and queue pairs that take from it. All receives
/// name one area.
class SharedBench {
 public:
  static constexpr std::uint32_t kAreaBytes = 16384;

  explicit SharedBench(std::uint32_t slots = 17, std::uint32_t pd = AdapterBench::kPd) {
    area = bench.allocate(kAreaBytes, 4096);
    key = bench.create_mr(area, kAreaBytes, hw::kLocalWrite | hw::kRemoteWrite, false, pd);
    context.srqn = hw::bar::kSrqBit | 5;
    context.pd = pd;
    context.size = slots;
    context.stride = 64;
    context.base = new_ring(slots);
    context.tail_record = bench.allocate(sizeof(hw::TailRecord));
    EXPECT_EQ(bench.command(hw::CommandOpcode::kCreateSrq, context.srqn, context),
              hw::CommandStatus::kOk);
    settle();
  }

  hw::QpContext qp_context() const {
    hw::QpContext made = AdapterBench::rc_context();
    made.uses_srq = 1;
    made.srqn = context.srqn;
    made.rq_size = 0;
    return made;
  }
  BenchQp create_qp(hw::QpState state = hw::QpState::kRts) {
    return bench.create_qp(qp_context(), state);
  }

  void settle() { bench.run_for(30 * hw::kMicrosecond); }
  std::uint64_t new_ring(std::uint32_t slots) {
    return bench.allocate(std::uint64_t{64} * slots, 64);
  }

  /// Stores receives with the next numbers, without a doorbell.
  void store(int count, std::uint32_t bytes = 1024) {
    for (int i = 0; i < count; ++i) {
      const std::uint64_t slot = context.base + std::uint64_t{64} * context.head;
      hw::ReceiveWqe wqe{};
      wqe.wr_id = next_wr_id++;
      wqe.num_sge = 1;
      bench.store(slot, wqe);
      bench.store(slot + sizeof wqe, hw::Sge{area, bytes, key});
      context.head = (context.head + 1) % context.size;
    }
  }
  void ring() { EXPECT_TRUE(bench.ring(hw::bar::kReceiveDoorbell, context.srqn, context.head)); }
  void post(int count, std::uint32_t bytes = 1024) {
    store(count, bytes);
    ring();
    settle();
  }

  hw::Mailbox modify(std::uint32_t mask) {
    return bench.issue(hw::CommandOpcode::kModifySrq, context.srqn, &context, sizeof context, mask);
  }
  hw::CommandStatus set_limit(std::uint32_t limit, std::uint32_t arm) {
    context.limit = limit;
    context.arm_number = arm;
    return modify(hw::kSrqLimit).status;
  }
  hw::SrqContext query() {
    return hw::load<hw::SrqContext>(
        bench.issue(hw::CommandOpcode::kQuerySrq, context.srqn).payload);
  }
  std::uint32_t tail_in_memory() { return bench.load<hw::TailRecord>(context.tail_record).tail; }

  /// The peer of a queue pair sends a message of one packet.
  void send(const BenchQp& qp, std::uint32_t psn, std::size_t bytes = 32,
            hw::BthOpcode opcode = hw::BthOpcode::kRcSendOnly) {
    bench.arrive(qp, AdapterBench::request(opcode, psn, pattern(bytes)));
  }
  void send_and_settle(const BenchQp& qp, std::uint32_t psn) {
    send(qp, psn);
    settle();
  }
  /// wr_id of the receives that completed.
  std::vector<std::uint64_t> received(BenchQp& qp) {
    std::vector<std::uint64_t> ids;
    for (const hw::Cqe& cqe : bench.poll(qp.recv_cq)) {
      EXPECT_EQ(cqe.qpn, qp.qpn());
      ids.push_back(cqe.wr_id);
    }
    return ids;
  }

  AdapterBench bench;
  hw::SrqContext context{};
  std::uint64_t area = 0;
  std::uint32_t key = 0;
  std::uint64_t next_wr_id = 1;
};

using Ids = std::vector<std::uint64_t>;
using Statuses = std::vector<hw::WcStatus>;

}  // namespace hcasim::testing
