// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tuple>
#include <utility>
#include <vector>

#include "unit/driver/fixture.hpp"

/// Two queue pairs of one device, connected to each other.
namespace hcasim::rvt {

/// A send request. Data: `local` bytes into the buffer, the peer's: `remote`.
struct Request {
  ib_wr_opcode opcode = IB_WR_SEND;
  std::uint64_t wr_id = 1;
  std::uint32_t length = 64;
  std::uint32_t flags = IB_SEND_SIGNALED;
  std::uint32_t value = 0;  ///< immediate data, or key to invalidate
  std::uint64_t local = 0;
  std::uint64_t remote = 4096;
  std::uint32_t rkey = 0;  ///< 0: that of the region
  std::uint64_t compare_add = 0;
  std::uint64_t swap = 0;
};

/// A completion in short: whose, which request, how it ended.
using Done = std::tuple<ib_qp*, std::uint64_t, ib_wc_status>;
using Dones = std::vector<Done>;

class LoopbackTest : public DriverTest {
 protected:
  static constexpr std::uint32_t kAllRights = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
                                              IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC;

  explicit LoopbackTest(const rvt_driver_params& parameters = {}) : DriverTest(parameters) {}

  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_EQ(ib_dereg_mr(mr), 0);
    mr = ib_reg_user_mr(pd, buffer, kBufferBytes, buffer, kAllRights);
  }

  static ib_gid own_address() {
    ib_gid gid;
    gid.raw[10] = gid.raw[11] = 0xff;
    gid.raw[15] = 1;
    return gid;
  }
  static ib_qp_attr home(std::uint32_t peer) {
    ib_qp_attr attr = path();
    attr.dest_qp_num = peer;
    attr.ah_attr.grh.sgid = attr.ah_attr.grh.dgid = own_address();
    return attr;
  }
  static int to_rtr(ib_qp* qp, ib_qp_attr attr) {
    attr.qp_state = IB_QPS_RTR;
    const bool reliable = qp->qp_type == IB_QPT_RC;
    return ib_modify_qp(
        qp, &attr,
        reliable ? kRtrMask : kRtrMask & ~(IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER));
  }
  static int to_rts(ib_qp* qp, ib_qp_attr attr) {
    attr.qp_state = IB_QPS_RTS;
    const bool reliable = qp->qp_type == IB_QPT_RC;
    return ib_modify_qp(qp, &attr, reliable ? kRtsMask : IB_QP_STATE | IB_QP_SQ_PSN);
  }
  static void raise_to_rts(ib_qp* qp, const ib_qp_attr& attr) {
    ASSERT_EQ(to_state(qp, IB_QPS_INIT), 0);
    ASSERT_EQ(to_rtr(qp, attr), 0);
    ASSERT_EQ(to_rts(qp, attr), 0);
  }
  /// Makes `a` and `b`, in RTS.
  void connect(ib_qp_init_attr attr) {
    a = make_qp(attr);
    b = make_qp(attr);
    raise_to_rts(a, home(b->qp_num));
    raise_to_rts(b, home(a->qp_num));
  }
  void connect(ib_qp_type type = IB_QPT_RC) {
    ib_qp_init_attr attr = init_attr();
    attr.qp_type = type;
    connect(attr);
  }

  int post(ib_qp* qp, const Request& request) {
    const ib_sge data{buffer + request.local, request.length, mr->lkey};
    ib_send_wr wr;
    wr.wr_id = request.wr_id;
    wr.sg_list = &data;
    wr.num_sge = request.length == 0 || request.opcode == IB_WR_LOCAL_INV ? 0 : 1;
    wr.opcode = request.opcode;
    wr.send_flags = request.flags;
    wr.ex.invalidate_rkey = request.value;
    const std::uint64_t address = buffer + request.remote;
    const std::uint32_t rkey = request.rkey != 0 ? request.rkey : mr->rkey;
    const ib_rdma_wr rdma{wr, address, rkey};
    const ib_atomic_wr atomic{wr, address, request.compare_add, request.swap, rkey};
    const bool is_atomic =
        request.opcode == IB_WR_ATOMIC_CMP_AND_SWP || request.opcode == IB_WR_ATOMIC_FETCH_AND_ADD;
    return ib_post_send(qp, is_atomic ? &atomic.wr : &rdma.wr, &bad_send);
  }
  int post_opcode(ib_qp* qp, ib_wr_opcode opcode, std::uint64_t wr_id = 1) {
    Request request;
    request.opcode = opcode;
    request.wr_id = wr_id;
    request.length = opcode == IB_WR_ATOMIC_CMP_AND_SWP || opcode == IB_WR_ATOMIC_FETCH_AND_ADD
                         ? 8
                         : request.length;
    return post(qp, request);
  }
  /// Posts several SENDs as one list, wr_id 1, 2, ...
  int post_list(ib_qp* qp, int count) {
    std::vector<ib_send_wr> list(static_cast<std::size_t>(count));
    const ib_sge data = sge(64);
    for (std::size_t i = 0; i < list.size(); ++i) {
      list[i].wr_id = i + 1;
      list[i].sg_list = &data;
      list[i].num_sge = 1;
      list[i].send_flags = IB_SEND_SIGNALED;
      list[i].next = i + 1 < list.size() ? &list[i + 1] : nullptr;
    }
    return ib_post_send(qp, list.data(), &bad_send);
  }
  int post_recv_at(ib_qp* qp, std::uint64_t wr_id, std::uint64_t offset, std::uint32_t length,
                   std::uint32_t lkey) {
    const ib_sge data{buffer + offset, length, lkey};
    ib_recv_wr wr;
    wr.wr_id = wr_id;
    wr.sg_list = &data;
    wr.num_sge = 1;
    return ib_post_recv(qp, &wr, &bad_recv);
  }
  int post_recv_at(ib_qp* qp, std::uint64_t wr_id, std::uint64_t offset,
                   std::uint32_t length = 64) {
    return post_recv_at(qp, wr_id, offset, length, mr->lkey);
  }

  /// The completions so far, oldest first.
  Dones done() {
    Dones all;
    for (const ib_wc& wc : poll()) all.emplace_back(wc.qp, wc.wr_id, wc.status);
    return all;
  }
  void fill(std::uint64_t offset, std::uint8_t first, std::uint32_t length = 64) {
    std::vector<std::uint8_t> bytes(length);
    for (std::uint32_t i = 0; i < length; ++i) bytes[i] = static_cast<std::uint8_t>(first + i);
    host.write(buffer + offset, bytes.data(), length);
  }
  std::vector<std::uint8_t> bytes_at(std::uint64_t offset, std::uint32_t length = 64) {
    std::vector<std::uint8_t> bytes(length);
    host.read(buffer + offset, bytes.data(), length);
    return bytes;
  }
  std::uint64_t word_at(std::uint64_t offset) {
    std::uint64_t word = 0;
    host.read(buffer + offset, &word, sizeof word);
    return word;
  }
  void set_word(std::uint64_t offset, std::uint64_t word) {
    host.write(buffer + offset, &word, sizeof word);
  }
  void set_rights(ib_qp* qp, std::uint32_t rights) { rvt(qp)->qp_access_flags = rights; }
  rvt_ibport& port() { return device->ports[0]; }

  ib_qp* a = nullptr;
  ib_qp* b = nullptr;
};

/// Tests of rvt_ruc_loopback.
class RvtRucLoopback : public LoopbackTest {
 protected:
  void expect_states(ib_qp_state of_a, ib_qp_state of_b) {
    EXPECT_EQ(rvt(a)->state, of_a);
    EXPECT_EQ(rvt(b)->state, of_b);
  }
  /// A failed request: the sender's status, and the receive that `b` had posted flushed before.
  void expect_refused(ib_wc_status status) {
    EXPECT_EQ(done(), (Dones{{b, 7, IB_WC_WR_FLUSH_ERR}, {a, 1, status}}));
    expect_states(IB_QPS_ERR, IB_QPS_ERR);
  }
};

/// With rdmavt's behaviour where it departs from the specification.
class CompatibleLoopbackTest : public LoopbackTest {
 protected:
  CompatibleLoopbackTest() : LoopbackTest(compatible()) {}
  static rvt_driver_params compatible() {
    rvt_driver_params params;
    params.rdmavt_compat = true;
    return params;
  }
};

}  // namespace hcasim::rvt
