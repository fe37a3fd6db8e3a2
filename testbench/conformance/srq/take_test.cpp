// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Receives that the driver takes by doorbell for loopback.
#include "hcasim/hw/receive_queue_ports.hpp"
#include "shared_bench.hpp"

namespace hcasim::testing {
namespace {

class SrqTake : public ::testing::Test {
 protected:
  SrqTake() {
    s.context.srqn = hw::bar::kSrqBit | 6;
    s.context.take_record = s.bench.allocate(s.context.stride, 64);
    s.context.tail_record = s.bench.allocate(sizeof(hw::TailRecord));
    s.context.base = s.new_ring(s.context.size);
    EXPECT_EQ(s.bench.command(hw::CommandOpcode::kCreateSrq, s.context.srqn, s.context),
              hw::CommandStatus::kOk);
    s.settle();
  }
  void take(std::uint32_t tag) {
    EXPECT_TRUE(s.bench.ring(hw::bar::kTakeDoorbell, s.context.srqn, tag));
  }
  /// The only answer since the last one.
  hw::Eqe answer() {
    s.settle();
    const auto events = s.bench.events(hw::EqeType::kTakeGrant);
    EXPECT_EQ(events.size(), 1u);
    return events.empty() ? hw::Eqe{} : events[0];
  }
  hw::ReceiveWqe record() { return s.bench.load<hw::ReceiveWqe>(s.context.take_record); }
  static std::uint32_t value(std::uint32_t tag, hw::rq::TakeStatus status) {
    return tag << 8 | static_cast<std::uint32_t>(status);
  }

  SharedBench s;
};

TEST_F(SrqTake, GrantCarriesTheWqeAndItsSlot) {
  s.post(3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    take(0xabcd00 + i);
    const hw::Eqe eqe = answer();
    EXPECT_EQ(eqe.number, s.context.srqn);
    EXPECT_EQ(eqe.value, value(0xabcd00 + i, hw::rq::TakeStatus::kOk));
    EXPECT_EQ(eqe.value2, i);
    EXPECT_EQ(record().wr_id, 1 + i);
    EXPECT_EQ(record().num_sge, 1u);
    const auto sge = s.bench.load<hw::Sge>(s.context.take_record + sizeof(hw::ReceiveWqe));
    EXPECT_EQ(sge.addr, s.area);
    EXPECT_EQ(sge.lkey, s.key);
    EXPECT_EQ(s.tail_in_memory(), 1 + i);
  }
}

TEST_F(SrqTake, NothingPostedIsEmpty) {
  take(1);
  EXPECT_EQ(answer().value, value(1, hw::rq::TakeStatus::kEmpty));
  s.post(1);
  take(2);
  EXPECT_EQ(answer().value, value(2, hw::rq::TakeStatus::kOk));
  EXPECT_EQ(record().wr_id, 1u);
}

TEST_F(SrqTake, SharesOrderAndLimitWithTheWire) {
  BenchQp qp = s.create_qp();
  s.post(4);
  ASSERT_EQ(s.set_limit(2, 9), hw::CommandStatus::kOk);
  s.send_and_settle(qp, 500);
  take(1);
  s.settle();
  EXPECT_EQ(s.bench.events().size(), 1u);  // two remain
  EXPECT_EQ(record().wr_id, 2u);
  take(2);
  s.settle();
  EXPECT_EQ(record().wr_id, 3u);
  const auto limit = s.bench.events(hw::EqeType::kSrqLimit);
  ASSERT_EQ(limit.size(), 1u);
  EXPECT_EQ(limit[0].value, 9u);
  s.send_and_settle(qp, 501);
  EXPECT_EQ(s.received(qp), (Ids{1, 4}));
  EXPECT_TRUE(s.bench.events(hw::EqeType::kSrqLimit).empty());
}

TEST_F(SrqTake, WaitsForTheEndOfAPause) {
  s.post(2);
  ASSERT_EQ(s.modify(hw::kSrqPause).status, hw::CommandStatus::kOk);
  take(1);
  s.settle();
  EXPECT_TRUE(s.bench.events(hw::EqeType::kTakeGrant).empty());
  ASSERT_EQ(s.modify(hw::kSrqRing).status, hw::CommandStatus::kOk);
  EXPECT_EQ(answer().value, value(1, hw::rq::TakeStatus::kOk));
  EXPECT_EQ(record().wr_id, 1u);
}

TEST_F(SrqTake, UnknownQueueIsABadDoorbell) {
  EXPECT_TRUE(s.bench.ring(hw::bar::kTakeDoorbell, hw::bar::kSrqBit | 7, 1));
  s.settle();
  EXPECT_TRUE(s.bench.events(hw::EqeType::kTakeGrant).empty());
}

}  // namespace
}  // namespace hcasim::testing
