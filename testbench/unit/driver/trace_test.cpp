// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Where the tracepoints are, and what holds there.
#include "hcasim/rvt/trace_sink.hpp"

#include <gmock/gmock.h>

#include "loopback_fixture.hpp"

namespace hcasim::rvt {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Writes down each call in a few words.
class Notes : public TraceSink {
 public:
  void dbg(const char* /*msg*/) override { note("dbg"); }
  void qpinsert(const rvt_qp& qp, std::uint32_t bucket) override {
    note("insert", bucket == rvt_qp_bucket(qp.rdi, qp.ibqp.qp_num));
  }
  void qpremove(const rvt_qp& qp, std::uint32_t bucket) override {
    note("remove", bucket == rvt_qp_bucket(qp.rdi, qp.ibqp.qp_num));
  }
  void rnrnak_add(const rvt_qp& /*qp*/, std::uint32_t timeout) override { note("add", timeout); }
  void rnrnak_stop(const rvt_qp& /*qp*/) override { note("stop"); }
  void rnrnak_timeout(const rvt_qp& /*qp*/) override { note("timeout"); }
  void post_one_wr(const rvt_qp& qp, std::uint32_t slot, int wr_num_sge) override {
    EXPECT_EQ(slot, qp.s_head);
    note("post", qp.s_wq[slot].wr_id, qp.s_avail, wr_num_sge);
  }
  void qp_send_completion(const rvt_qp& qp, std::uint32_t slot) override {
    note("sent", qp.s_wq[slot].wr_id, slot);
  }
  void create_cq(const rvt_cq& /*cq*/, const ib_cq_init_attr& attr) override {
    note("cq", attr.cqe);
  }
  void cq_enter(const rvt_cq& /*cq*/, const ib_wc& wc) override {
    note("enter", wc.wr_id, wc.status);
  }
  void cq_poll(const rvt_cq& /*cq*/, const ib_wc& wc, int idx) override {
    note("poll", wc.wr_id, idx);
  }
  void mr_user_seg(const rvt_mregion& /*mr*/, const rvt_segments& segments) override {
    note("user", segments.first, segments.count);
  }
  void mr_page_seg(const rvt_mregion& /*mr*/, const rvt_segments& segments) override {
    note("page", segments.first, segments.count);
  }
  void sge_new(const rvt_sge& sge, const ib_sge& isge) override {
    note("new", sge.length, isge.length);
  }
  void sge_adjacent(const rvt_sge& last, const ib_sge& isge) override {
    note("adjacent", last.length, isge.length);
  }
  void map_mr_sg(const ib_mr& mr, int sg_nents, unsigned sg_offset) override {
    note("map", mr.length, sg_nents, sg_offset);
  }

  std::vector<std::string> take() { return std::exchange(notes_, {}); }

 private:
  template <typename... Numbers>
  void note(std::string text, Numbers... numbers) {
    ((text += ' ' + std::to_string(numbers)), ...);
    notes_.push_back(text);
  }

  std::vector<std::string> notes_;
};

class TraceTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    device->trace = &notes;
  }
  void TearDown() override {
    if (device != nullptr) device->trace = nullptr;
    DriverTest::TearDown();
  }

  Notes notes;
};

TEST_F(TraceTest, AQueuePairIsEnteredWithInitAndRemovedWithReset) {
  ib_qp* const qp = make_qp();
  EXPECT_THAT(notes.take(), IsEmpty());
  EXPECT_EQ(to_state(qp, IB_QPS_INIT), 0);
  EXPECT_THAT(notes.take(), ElementsAre("insert 1"));
  EXPECT_EQ(to_state(qp, IB_QPS_RESET), 0);
  EXPECT_THAT(notes.take(), ElementsAre("remove 1"));
}

TEST_F(TraceTest, APostTellsTheSlotsThatAreLeft) {
  ib_qp* const qp = make_qp_in(IB_QPS_RTS);
  notes.take();
  EXPECT_EQ(post_send(qp, 41), 0);
  EXPECT_THAT(notes.take(), ElementsAre("new 64 64", "post 41 3 1"));
  ib_send_wr bad;
  bad.opcode = IB_WR_BIND_MW;
  EXPECT_NE(ib_post_send(qp, &bad, &bad_send), 0);
  EXPECT_THAT(notes.take(), IsEmpty());
}

TEST_F(TraceTest, NeighboursAreAdjacentAndMissedKeysAreNothing) {
  ib_qp* const qp = make_qp_in(IB_QPS_RTS);
  notes.take();
  const ib_sge data[] = {sge(64), sge(32, 64)};
  ib_send_wr wr;
  wr.sg_list = data;
  wr.num_sge = 2;
  EXPECT_EQ(ib_post_send(qp, &wr, &bad_send), 0);
  EXPECT_THAT(notes.take(), ElementsAre("new 64 64", "adjacent 96 32", "post 0 3 2"));
  const ib_sge wrong{buffer, 64, mr->lkey ^ 0xff};
  wr.sg_list = &wrong;
  wr.num_sge = 1;
  EXPECT_NE(ib_post_send(qp, &wr, &bad_send), 0);
  EXPECT_THAT(notes.take(), IsEmpty());
}

TEST_F(TraceTest, ACompletionRetiresAllSendsBeforeIt) {
  ib_qp* const qp = make_qp_in(IB_QPS_RTS);
  EXPECT_EQ(post_send(qp, 1, 0), 0);
  EXPECT_EQ(post_send(qp, 2, 0), 0);
  EXPECT_EQ(post_send(qp, 3), 0);
  notes.take();
  EXPECT_TRUE(complete_send(qp, 2));
  EXPECT_THAT(notes.take(), IsEmpty());
  EXPECT_EQ(poll().size(), 1U);
  EXPECT_THAT(notes.take(),
              ElementsAre("sent 1 0", "sent 2 1", "sent 3 2", "enter 3 0", "poll 3 0"));
}

TEST_F(TraceTest, PollsAreCountedWithinTheirCall) {
  ib_qp* const qp = make_qp_in(IB_QPS_RTS);
  EXPECT_EQ(post_recv(qp, 8), 0);
  EXPECT_EQ(post_recv(qp, 9), 0);
  EXPECT_TRUE(complete_recv(qp, 8));
  EXPECT_TRUE(complete_recv(qp, 9));
  notes.take();
  EXPECT_EQ(poll().size(), 2U);
  EXPECT_THAT(notes.take(), ElementsAre("enter 8 0", "enter 9 0", "poll 8 0", "poll 9 1"));
}

TEST_F(TraceTest, AFlushedReceiveIsEnteredAndARefusedCompletionIsNot) {
  ib_qp_init_attr attr = init_attr();
  attr.recv_cq = make_cq(1);
  EXPECT_THAT(notes.take(), ElementsAre("cq 1"));
  ib_qp* const qp = make_qp_in(IB_QPS_RTR, attr);
  EXPECT_EQ(post_recv(qp, 5), 0);
  EXPECT_EQ(post_recv(qp, 6), 0);
  notes.take();
  EXPECT_EQ(to_state(qp, IB_QPS_ERR), 0);
  host.settle();
  EXPECT_THAT(notes.take(), ElementsAre("enter 5 5"));
  EXPECT_EQ(poll(attr.recv_cq).size(), 1U);
  EXPECT_THAT(notes.take(), ElementsAre("poll 5 0"));
}

TEST_F(TraceTest, RegionsTellTheirPages) {
  ib_mr* const region = ib_reg_user_mr(pd, buffer + 100, 2 * 4096, buffer, IB_ACCESS_LOCAL_WRITE);
  ASSERT_FALSE(IS_ERR(region));
  EXPECT_THAT(notes.take(), ElementsAre("user 0 3"));
  EXPECT_EQ(ib_dereg_mr(region), 0);
  ib_mr* const fast = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 4);
  const scatterlist list[] = {{buffer, 8192}, {buffer + 16384, 4096}};
  unsigned offset = 0;
  EXPECT_EQ(ib_map_mr_sg(fast, list, 2, &offset, 4096), 2);
  EXPECT_THAT(notes.take(), ElementsAre("page 0 2", "page 2 1", "map 12288 2 0"));
  EXPECT_EQ(ib_dereg_mr(fast), 0);
}

TEST_F(TraceTest, ADeviceSaysThatItComesUp) {
  stop();
  device = rvt_alloc_device(host, params);
  device->trace = &notes;
  notes.take();
  ASSERT_EQ(rvt_register_device(device.get()), 0);
  EXPECT_THAT(notes.take(), ElementsAre("dbg", "dbg"));
}

class LoopbackTraceTest : public LoopbackTest {
 protected:
  void TearDown() override {
    device->trace = nullptr;
    LoopbackTest::TearDown();
  }

  Notes notes;
};

TEST_F(LoopbackTraceTest, AMessageWaitsAndCompletesAtBothEnds) {
  connect(init_attr());
  device->trace = &notes;
  ASSERT_EQ(post_opcode(a, IB_WR_SEND), 0);
  EXPECT_THAT(notes.take(), ElementsAre("new 64 64", "post 1 3 1", "add 640"));
  ASSERT_EQ(post_recv_at(b, 7, 4096), 0);
  host.settle();
  EXPECT_THAT(notes.take(),
              ElementsAre("stop", "timeout", "new 64 64", "enter 7 0", "sent 1 0", "enter 1 0"));
}

}  // namespace
}  // namespace hcasim::rvt
