// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// rvt_ruc_loopback: what each operation does, and what refuses it.
#include "unit/driver/loopback_fixture.hpp"

namespace hcasim::rvt {
namespace {

// --- Operations
// -----------------------------------------------------------------------------------

TEST_F(RvtRucLoopback, SendIsThereWhenThePostReturns) {
  connect();
  fill(0, 3);
  ASSERT_EQ(post_recv_at(b, 7, 4096, 100), 0);
  ASSERT_EQ(post(a, {.flags = IB_SEND_SIGNALED | IB_SEND_SOLICITED}), 0);
  const auto wcs = poll();
  ASSERT_EQ(wcs.size(), 2u);
  EXPECT_EQ(wcs[0].qp, b);
  EXPECT_EQ(wcs[0].wr_id, 7u);
  EXPECT_EQ(wcs[0].opcode, IB_WC_RECV);
  EXPECT_EQ(wcs[0].byte_len, 64u);
  EXPECT_EQ(wcs[0].src_qp, a->qp_num);
  EXPECT_EQ(wcs[0].port_num, 1u);
  EXPECT_EQ(wcs[0].wc_flags, 0u);
  EXPECT_EQ(wcs[1].qp, a);
  EXPECT_EQ(wcs[1].opcode, IB_WC_SEND);
  EXPECT_EQ(wcs[1].byte_len, 64u);
  EXPECT_EQ(bytes_at(4096), bytes_at(0));
  EXPECT_EQ(port().n_loop_pkts, 1u);
  EXPECT_TRUE(host.rung(hw::bar::kSendDoorbell).empty());
  EXPECT_TRUE(host.rung(hw::bar::kReceiveDoorbell).empty());
}

TEST_F(RvtRucLoopback, SendWithImmCarriesIt) {
  connect();
  ASSERT_EQ(post_recv_at(b, 7, 4096), 0);
  ASSERT_EQ(post(a, {.opcode = IB_WR_SEND_WITH_IMM, .value = cpu_to_be32(0x1234)}), 0);
  const ib_wc wc = poll().at(0);
  EXPECT_EQ(wc.wc_flags, IB_WC_WITH_IMM);
  EXPECT_EQ(be32_to_cpu(wc.ex.imm_data), 0x1234u);
}

TEST_F(RvtRucLoopback, SendSpreadsOverTheElementsOfBothSides) {
  connect();
  fill(0, 1, 48);
  const ib_sge from[] = {sge(16, 0), {0, 0, 0}, sge(32, 16 + 256)};
  fill(16 + 256, 17, 32);
  const ib_sge to[] = {sge(30, 4096), sge(30, 8192)};
  ib_recv_wr recv;
  recv.sg_list = to;
  recv.num_sge = 2;
  ASSERT_EQ(ib_post_recv(b, &recv, &bad_recv), 0);
  ib_send_wr wr;
  wr.sg_list = from;
  wr.num_sge = 2;
  ASSERT_EQ(ib_post_send(a, &wr, &bad_send), 0);
  EXPECT_EQ(bytes_at(4096, 16), bytes_at(0, 16));
  EXPECT_EQ(poll().at(0).byte_len, 16u);
  ASSERT_EQ(ib_post_recv(b, &recv, &bad_recv), 0);
  const ib_sge both[] = {from[0], from[2]};
  wr.sg_list = both;
  ASSERT_EQ(ib_post_send(a, &wr, &bad_send), 0);
  auto got = bytes_at(4096, 30);
  const auto rest = bytes_at(8192, 18);
  got.insert(got.end(), rest.begin(), rest.end());
  EXPECT_EQ(got, bytes_at(0, 48));
}

TEST_F(RvtRucLoopback, InlineDataIsThatOfThePost) {
  connect();
  fill(0, 9, 20);
  const auto before = bytes_at(0, 20);
  ASSERT_EQ(post_recv_at(b, 7, 4096), 0);
  ASSERT_EQ(post(a, {.length = 20, .flags = IB_SEND_INLINE}), 0);
  EXPECT_EQ(bytes_at(4096, 20), before);
}

TEST_F(RvtRucLoopback, EmptySendTakesAReceive) {
  connect();
  ASSERT_EQ(post_recv_at(b, 7, 4096), 0);
  ASSERT_EQ(post(a, {.length = 0}), 0);
  EXPECT_EQ(done(), (Dones{{b, 7, IB_WC_SUCCESS}, {a, 1, IB_WC_SUCCESS}}));
}

TEST_F(RvtRucLoopback, WriteNeedsNoReceiveAndTellsNobody) {
  connect();
  fill(0, 5);
  ASSERT_EQ(post_recv_at(b, 7, 8192), 0);
  ASSERT_EQ(post_opcode(a, IB_WR_RDMA_WRITE), 0);
  EXPECT_EQ(bytes_at(4096), bytes_at(0));
  const auto wcs = poll();
  ASSERT_EQ(wcs.size(), 1u);
  EXPECT_EQ(wcs[0].opcode, IB_WC_RDMA_WRITE);
}

TEST_F(RvtRucLoopback, WriteWithImmTakesAReceiveWithoutLookingAtIt) {
  connect();
  fill(0, 5);
  ASSERT_EQ(post_recv_at(b, 7, 8192, 4, 0xbad00), 0);
  ASSERT_EQ(post(a, {.opcode = IB_WR_RDMA_WRITE_WITH_IMM, .value = cpu_to_be32(9)}), 0);
  EXPECT_EQ(bytes_at(4096), bytes_at(0));
  const auto wcs = poll();
  ASSERT_EQ(wcs.size(), 2u);
  EXPECT_EQ(wcs[0].opcode, IB_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(wcs[0].byte_len, 64u);
  EXPECT_EQ(be32_to_cpu(wcs[0].ex.imm_data), 9u);
  EXPECT_EQ(wcs[0].wc_flags, IB_WC_WITH_IMM);
}

TEST_F(RvtRucLoopback, EmptyWriteDoesNotLookAtTheKey) {
  connect();
  ASSERT_EQ(post(a, {.opcode = IB_WR_RDMA_WRITE, .length = 0, .rkey = 0xbad00}), 0);
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_SUCCESS}}));
}

TEST_F(RvtRucLoopback, ReadFetches) {
  connect();
  fill(4096, 77);
  ASSERT_EQ(post_opcode(a, IB_WR_RDMA_READ), 0);
  EXPECT_EQ(bytes_at(0), bytes_at(4096));
  EXPECT_EQ(poll().at(0).opcode, IB_WC_RDMA_READ);
}

TEST_F(RvtRucLoopback, CompareAndSwapReturnsTheOldValue) {
  connect();
  set_word(4096, 5);
  Request request{.opcode = IB_WR_ATOMIC_CMP_AND_SWP, .length = 8, .compare_add = 5, .swap = 6};
  ASSERT_EQ(post(a, request), 0);
  EXPECT_EQ(word_at(0), 5u);
  EXPECT_EQ(word_at(4096), 6u);
  ASSERT_EQ(post(a, request), 0);  // does not compare any more
  EXPECT_EQ(word_at(0), 6u);
  EXPECT_EQ(word_at(4096), 6u);
  const auto wcs = poll();
  EXPECT_EQ(wcs.at(0).opcode, IB_WC_COMP_SWAP);
  EXPECT_EQ(wcs.at(0).byte_len, 8u);
}

TEST_F(RvtRucLoopback, FetchAndAddReturnsTheOldValue) {
  connect();
  set_word(4096, 5);
  ASSERT_EQ(post(a, {.opcode = IB_WR_ATOMIC_FETCH_AND_ADD, .length = 8, .compare_add = 10}), 0);
  EXPECT_EQ(word_at(0), 5u);
  EXPECT_EQ(word_at(4096), 15u);
  EXPECT_EQ(poll().at(0).opcode, IB_WC_FETCH_ADD);
}

TEST_F(RvtRucLoopback, UnsignaledSuccessIsSilent) {
  connect();
  ASSERT_EQ(post(a, {.opcode = IB_WR_RDMA_WRITE, .flags = 0}), 0);
  EXPECT_EQ(done(), Dones{});
  EXPECT_EQ(rvt(a)->s_last, rvt(a)->s_head);
}

// --- Refusals, in the order in which they are looked for
// ------------------------------------------

TEST_F(RvtRucLoopback, NoRightToWrite) {
  connect();
  ASSERT_EQ(post_recv_at(b, 7, 8192), 0);
  set_rights(b, IB_ACCESS_REMOTE_READ);
  ASSERT_EQ(post(a, {.opcode = IB_WR_RDMA_WRITE, .rkey = 0xbad00}), 0);
  expect_refused(IB_WC_REM_INV_REQ_ERR);
  EXPECT_EQ(qp_seen.events, (std::vector{IB_EVENT_QP_REQ_ERR}));
  EXPECT_EQ(qp_seen.elements[0], b);
}

TEST_F(RvtRucLoopback, NoRightToWriteWithImmTakesNoReceive) {
  connect();
  ASSERT_EQ(post_recv_at(b, 7, 8192), 0);
  set_rights(b, 0);
  ASSERT_EQ(post_opcode(a, IB_WR_RDMA_WRITE_WITH_IMM), 0);
  expect_refused(IB_WC_REM_INV_REQ_ERR);
}

TEST_F(RvtRucLoopback, WriteToABadKey) {
  connect();
  ASSERT_EQ(post_recv_at(b, 7, 8192), 0);
  ASSERT_EQ(post(a, {.opcode = IB_WR_RDMA_WRITE, .rkey = 0xbad00}), 0);
  expect_refused(IB_WC_REM_ACCESS_ERR);
  EXPECT_EQ(qp_seen.events, (std::vector{IB_EVENT_QP_ACCESS_ERR}));
}

TEST_F(RvtRucLoopback, WriteBeyondTheRegion) {
  connect();
  ASSERT_EQ(post_recv_at(b, 7, 8192), 0);
  ASSERT_EQ(post(a, {.opcode = IB_WR_RDMA_WRITE, .remote = kBufferBytes - 63}), 0);
  expect_refused(IB_WC_REM_ACCESS_ERR);
}

TEST_F(RvtRucLoopback, WriteWithImmToABadKeyCompletesItsReceiveSo) {
  connect();
  ASSERT_EQ(post_recv_at(b, 7, 8192), 0);
  ASSERT_EQ(post_recv_at(b, 8, 8192), 0);
  ASSERT_EQ(post(a, {.opcode = IB_WR_RDMA_WRITE_WITH_IMM, .rkey = 0xbad00}), 0);
  EXPECT_EQ(done(), (Dones{{b, 7, IB_WC_LOC_PROT_ERR},
                           {b, 8, IB_WC_WR_FLUSH_ERR},
                           {a, 1, IB_WC_REM_ACCESS_ERR}}));
  EXPECT_TRUE(qp_seen.events.empty());  // the receive has told
}

TEST_F(RvtRucLoopback, NoRightToRead) {
  connect();
  ASSERT_EQ(post_recv_at(b, 7, 8192), 0);
  set_rights(b, IB_ACCESS_REMOTE_WRITE);
  ASSERT_EQ(post(a, {.opcode = IB_WR_RDMA_READ, .length = 0}), 0);
  expect_refused(IB_WC_REM_INV_REQ_ERR);
}

TEST_F(RvtRucLoopback, ReadFromABadKey) {
  connect();
  ASSERT_EQ(post_recv_at(b, 7, 8192), 0);
  ASSERT_EQ(post(a, {.opcode = IB_WR_RDMA_READ, .rkey = 0xbad00}), 0);
  expect_refused(IB_WC_REM_ACCESS_ERR);
}

TEST_F(RvtRucLoopback, NoRightToAtomics) {
  connect();
  ASSERT_EQ(post_recv_at(b, 7, 8192), 0);
  set_rights(b, IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ);
  ASSERT_EQ(post_opcode(a, IB_WR_ATOMIC_FETCH_AND_ADD), 0);
  expect_refused(IB_WC_REM_INV_REQ_ERR);
}

TEST_F(RvtRucLoopback, AtomicAtAnOddAddressBeforeItsKey) {
  connect();
  ASSERT_EQ(post_recv_at(b, 7, 8192), 0);
  const Request request{
      .opcode = IB_WR_ATOMIC_FETCH_AND_ADD, .length = 8, .remote = 4100, .rkey = 0xbad00};
  ASSERT_EQ(post(a, request), 0);
  expect_refused(IB_WC_REM_INV_REQ_ERR);
}

TEST_F(RvtRucLoopback, AtomicOnABadKey) {
  connect();
  ASSERT_EQ(post_recv_at(b, 7, 8192), 0);
  ASSERT_EQ(post(a, {.opcode = IB_WR_ATOMIC_CMP_AND_SWP, .length = 8, .rkey = 0xbad00}), 0);
  expect_refused(IB_WC_REM_ACCESS_ERR);
}

TEST_F(RvtRucLoopback, FaultyReceive) {
  connect();
  ASSERT_EQ(post_recv_at(b, 7, 8192, 64, 0xbad00), 0);
  ASSERT_EQ(post_recv_at(b, 8, 8192), 0);
  ASSERT_EQ(post_opcode(a, IB_WR_SEND), 0);
  EXPECT_EQ(
      done(),
      (Dones{{b, 7, IB_WC_LOC_PROT_ERR}, {b, 8, IB_WC_WR_FLUSH_ERR}, {a, 1, IB_WC_REM_OP_ERR}}));
  expect_states(IB_QPS_ERR, IB_QPS_ERR);
}

TEST_F(RvtRucLoopback, Quirk19_TooLongSendIsALengthErrorOfTheReceiver) {
  connect();
  ASSERT_EQ(post_recv_at(b, 7, 8192, 63), 0);
  ASSERT_EQ(post_opcode(a, IB_WR_SEND), 0);
  EXPECT_EQ(done(), (Dones{{b, 7, IB_WC_LOC_LEN_ERR}, {a, 1, IB_WC_REM_INV_REQ_ERR}}));
  expect_states(IB_QPS_ERR, IB_QPS_ERR);
}

TEST_F(RvtRucLoopback, SendOfExactlyTheReceivesLengthFits) {
  connect();
  ASSERT_EQ(post_recv_at(b, 7, 8192, 64), 0);
  ASSERT_EQ(post_opcode(a, IB_WR_SEND), 0);
  EXPECT_EQ(done(), (Dones{{b, 7, IB_WC_SUCCESS}, {a, 1, IB_WC_SUCCESS}}));
}

TEST_F(RvtRucLoopback, Quirk17_KeyOfAnEmptyReadIsNotLookedAt) {
  connect();
  ASSERT_EQ(post(a, {.opcode = IB_WR_RDMA_READ, .length = 0, .rkey = 0xbad00}), 0);
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_SUCCESS}}));
}

TEST_F(RvtRucLoopback, SenderInErrFlushesItsReceivesAtOnceAndItsSendsLater) {
  connect();
  ASSERT_EQ(post_recv_at(a, 9, 0), 0);
  set_rights(b, 0);
  const ib_sge data = sge(8);
  ib_rdma_wr second{{}, buffer, mr->rkey};
  second.wr.wr_id = 2;
  second.wr.opcode = IB_WR_RDMA_WRITE;
  second.wr.sg_list = &data;
  second.wr.num_sge = 1;
  ib_rdma_wr first = second;
  first.wr.wr_id = 1;
  first.wr.next = &second.wr;
  ASSERT_EQ(ib_post_send(a, &first.wr, &bad_send), 0);
  EXPECT_EQ(done(), Dones{});  // a list is for the engine
  host.settle();
  EXPECT_EQ(done(), (Dones{{a, 1, IB_WC_REM_INV_REQ_ERR},
                           {a, 9, IB_WC_WR_FLUSH_ERR},
                           {a, 2, IB_WC_WR_FLUSH_ERR}}));
}

}  // namespace
}  // namespace hcasim::rvt
