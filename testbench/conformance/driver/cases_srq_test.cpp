// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Conformance cases of shared receive queues in the driver, by number.
#include <array>
#include <cerrno>

#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

using Ids = std::vector<std::uint64_t>;

class SrqCases : public DriverTest {
 protected:
  ib_srq* create(std::uint32_t max_wr, std::uint32_t limit = 0) {
    ib_srq_init_attr attr;
    attr.event_handler = Seen::event;
    attr.srq_context = &srq_seen;
    attr.attr = {max_wr, 1, limit};
    srqs.push_back(ib_create_srq(pd, &attr));
    EXPECT_FALSE(IS_ERR(srqs.back()));
    return srqs.back();
  }
  int post(ib_srq* srq, std::uint64_t wr_id) {
    ib_recv_wr wr;
    wr.wr_id = wr_id;
    return ib_post_srq_recv(srq, &wr, &bad_recv);
  }
  static int modify(ib_srq* srq, std::uint32_t mask, std::uint32_t max_wr, std::uint32_t limit) {
    const ib_srq_attr attr{max_wr, 0, limit};
    return ib_modify_srq(srq, &attr, mask);
  }
  static ib_srq_attr query(ib_srq* srq) {
    ib_srq_attr attr;
    EXPECT_EQ(ib_query_srq(srq, &attr), 0);
    return attr;
  }
  static rvt_srq* rvt(ib_srq* srq) { return ibsrq_to_rvtsrq(srq); }
  hw::SrqContext& on_adapter(ib_srq* srq) { return host.srqs.at(rvt(srq)->srqn); }
  void take(ib_srq* srq) {
    hw::SrqContext& context = on_adapter(srq);
    context.tail = (context.tail + 1) % context.size;
    const hw::TailRecord record{context.tail, 0};
    host.write(context.tail_record, &record, sizeof record);
  }
  Ids posted(ib_srq* srq) {
    const rvt_rq& rq = rvt(srq)->rq;
    Ids ids;
    for (std::uint32_t i = on_adapter(srq).tail; i != rq.head; i = (i + 1) % rq.size) {
      hw::ReceiveWqe wqe;
      host.read(rq.wq + std::uint64_t{i} * rq.stride, &wqe, sizeof wqe);
      ids.push_back(wqe.wr_id);
    }
    return ids;
  }

  Seen srq_seen;
};

// Each step of a resize fails once, from memory to the last command.
TEST_F(SrqCases, B41_FailedResizeLeavesAUsableQueue) {
  for (int step = 0; step < 3; ++step) {
    ib_srq* srq = create(4);
    ASSERT_EQ(modify(srq, IB_SRQ_LIMIT, 0, 1), 0);
    for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(post(srq, i), 0);
    const std::size_t blocks = host.blocks_allocated();
    if (step == 0) {
      host.allocations_until_failure = 0;
    } else {
      host.commands_until_failure = step - 1;
    }
    const int error = modify(srq, IB_SRQ_MAX_WR, 8, 0);
    host.allocations_until_failure = host.commands_until_failure = -1;
    EXPECT_EQ(error, step == 0 ? -ENOMEM : -EINVAL);
    EXPECT_EQ(host.blocks_allocated(), blocks);
    EXPECT_EQ(query(srq).srq_limit, 1u);
    EXPECT_EQ(posted(srq), (Ids{0, 1, 2}));
    if (step < 2) {  // an adapter that does not go on leaves the driver in the new ring
      EXPECT_EQ(query(srq).max_wr, 4u);
    }
    EXPECT_EQ(modify(srq, IB_SRQ_MAX_WR, 16, 0), 0);
    EXPECT_EQ(query(srq).max_wr, 16u);
    EXPECT_EQ(posted(srq), (Ids{0, 1, 2}));
    EXPECT_EQ(post(srq, 3), 0);
  }
}

TEST_F(SrqCases, B58_AListEndsWhereTheQueueIsFull) {
  ib_srq* srq = create(4);
  for (std::uint64_t lap = 0; lap < 12; ++lap) {  // from every place of the ring
    std::array<ib_recv_wr, 6> list;
    for (std::size_t i = 0; i < list.size(); ++i) {
      list[i].wr_id = 10 * lap + i;
      list[i].next = i + 1 < list.size() ? &list[i + 1] : nullptr;
    }
    EXPECT_EQ(ib_post_srq_recv(srq, list.data(), &bad_recv), -ENOMEM);
    EXPECT_EQ(bad_recv, &list[4]);
    EXPECT_EQ(posted(srq), (Ids{10 * lap, 10 * lap + 1, 10 * lap + 2, 10 * lap + 3}));
    for (int i = 0; i < 4; ++i) take(srq);
  }
}

TEST_F(SrqCases, B61_LimitIsNullUntilItIsSet) {
  ib_srq* srq = create(8, 5);
  EXPECT_EQ(query(srq).srq_limit, 0u);
  EXPECT_EQ(on_adapter(srq).limit, 0u);
  ASSERT_EQ(modify(srq, IB_SRQ_LIMIT, 0, 5), 0);
  EXPECT_EQ(query(srq).srq_limit, 5u);
}

class CompatibleSrqCases : public SrqCases {
 protected:
  CompatibleSrqCases() { params.rdmavt_compat = true; }
};

TEST_F(CompatibleSrqCases, B61_LimitOfTheCreationCountsAsInRdmavt) {
  ib_srq* srq = create(8, 5);
  EXPECT_EQ(query(srq).srq_limit, 5u);
  EXPECT_EQ(on_adapter(srq).limit, 5u);
}

TEST_F(SrqCases, B62_LimitDoesNotDependOnWhatIsPosted) {
  ib_srq* srq = create(6);
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(post(srq, i), 0);
  EXPECT_EQ(modify(srq, IB_SRQ_LIMIT, 0, 7), -EINVAL);  // of max_wr alone
  EXPECT_EQ(modify(srq, IB_SRQ_LIMIT, 0, 5), 0);
  EXPECT_TRUE(srq_seen.events.empty());
  EXPECT_EQ(query(srq).srq_limit, 5u);
  host.event(0, hw::EqeType::kSrqLimit, rvt(srq)->srqn, on_adapter(srq).arm_number);
  on_adapter(srq).limit = 0;
  EXPECT_EQ(srq_seen.events, std::vector{IB_EVENT_SRQ_LIMIT_REACHED});
  EXPECT_EQ(query(srq).srq_limit, 0u);
}

// Posts fall between all steps of a resize; none is lost, none reaches the ring that goes.
TEST_F(SrqCases, H8_Quirk20_PostsDuringAResizeStayInOrder) {
  ib_srq* srq = create(6);
  ASSERT_EQ(post(srq, 0), 0);
  std::uint64_t next = 1;
  host.on_command = [&](const hw::Mailbox& mailbox) {
    if (mailbox.opcode == hw::CommandOpcode::kModifySrq) {
      EXPECT_EQ(post(srq, next++), 0);
    }
  };
  for (const std::uint32_t size : {12u, 9u, 30u}) {
    ASSERT_EQ(modify(srq, IB_SRQ_MAX_WR, size, 0), 0);
    host.tails.clear();
  }
  host.on_command = nullptr;
  EXPECT_EQ(posted(srq), (Ids{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(host.rung(hw::bar::kReceiveDoorbell).back().index, rvt(srq)->rq.head);
}

}  // namespace
}  // namespace hcasim::rvt
