// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Sends that go with their doorbell.
#include <cerrno>
#include <numeric>

#include "unit/driver/fixture.hpp"

namespace hcasim::rvt {
namespace {

rvt_driver_params with_blue_flame() {
  rvt_driver_params params;
  params.blue_flame = true;
  return params;
}

class BlueFlame : public DriverTest {
 protected:
  BlueFlame() : DriverTest(with_blue_flame()) {}

  ib_qp* sender(std::uint32_t max_inline = 512) {
    ib_qp_init_attr attr = init_attr();
    attr.cap.max_inline_data = max_inline;
    return make_qp_in(IB_QPS_RTS, attr);
  }
  int post_inline(ib_qp* qp, std::uint32_t bytes) {
    const ib_sge data{buffer, bytes, 0};
    ib_send_wr wr;
    wr.sg_list = &data;
    wr.num_sge = 1;
    wr.send_flags = IB_SEND_INLINE;
    return ib_post_send(qp, &wr, &bad_send);
  }
  std::vector<std::uint8_t> in_ring(ib_qp* qp, std::uint32_t slot, std::size_t bytes) {
    std::vector<std::uint8_t> found(bytes);
    host.read(rvt(qp)->s_ring + std::uint64_t{slot} * rvt(qp)->s_stride, found.data(), bytes);
    return found;
  }
};

TEST_F(BlueFlame, TheBurstIsTheDoorbellAndTheWqeInWholeLines) {
  std::vector<std::uint8_t> bytes(512);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
  host.write(buffer, bytes.data(), bytes.size());
  ib_qp* qp = sender();
  const std::vector<std::uint32_t> sizes = {0, 24, 25, 472};  // 472: the last that fits
  for (std::uint32_t i = 0; i < 4; ++i) {
    ASSERT_EQ(post_inline(qp, sizes[i]), 0);
    ASSERT_EQ(host.blocks.size(), i + 1);
    const FakeHost::Block& block = host.blocks.back();
    EXPECT_EQ(block.offset, device->uar + hw::bar::kBlueFlame);
    EXPECT_EQ(block.bytes.size(), (8 + 32 + sizes[i] + 63) / 64 * 64);
    EXPECT_EQ(hw::load<std::uint64_t>(block.bytes.data()), hw::bar::doorbell(qp->qp_num, i + 1));
    const std::vector<std::uint8_t> wqe(block.bytes.begin() + 8,
                                        block.bytes.begin() + 8 + 32 + sizes[i]);
    EXPECT_EQ(wqe, in_ring(qp, i, 32 + sizes[i]));
  }
  EXPECT_TRUE(host.rung(hw::bar::kSendDoorbell).empty());
}

TEST_F(BlueFlame, WhatDoesNotFitHasADoorbell) {
  ib_qp* qp = sender();
  ASSERT_EQ(post_inline(qp, 473), 0);
  EXPECT_TRUE(host.blocks.empty());
  const std::vector<FakeHost::Doorbell> expected{{hw::bar::kSendDoorbell, qp->qp_num, 1}};
  EXPECT_EQ(host.rung(hw::bar::kSendDoorbell), expected);
}

TEST_F(BlueFlame, AListHasADoorbell) {
  ib_qp* qp = sender();
  const ib_sge data = sge(64);
  ib_send_wr second;
  second.sg_list = &data;
  second.num_sge = 1;
  ib_send_wr first = second;
  first.next = &second;
  ASSERT_EQ(ib_post_send(qp, &first, &bad_send), 0);
  EXPECT_TRUE(host.blocks.empty());
  const std::vector<FakeHost::Doorbell> expected{{hw::bar::kSendDoorbell, qp->qp_num, 2}};
  EXPECT_EQ(host.rung(hw::bar::kSendDoorbell), expected);
}

TEST_F(BlueFlame, TheWqeAtTheEndOfTheRing) {
  ib_qp* qp = sender(64);
  for (std::uint32_t i = 0; i < 12; ++i) {
    ASSERT_EQ(post_send(qp, i), 0);
    const std::uint32_t slot = i % rvt(qp)->s_size;
    const FakeHost::Block& block = host.blocks.back();
    EXPECT_EQ(hw::load<hw::SendWqeControl>(block.bytes.data() + 8).index, slot);
    EXPECT_EQ(hw::load<std::uint64_t>(block.bytes.data()),
              hw::bar::doorbell(qp->qp_num, rvt(qp)->s_head));
    ASSERT_TRUE(complete_send(qp, slot));
    ASSERT_EQ(poll().size(), 1u);
  }
  EXPECT_EQ(host.blocks.size(), 12u);
}

TEST_F(BlueFlame, ARefusedPostWritesNothing) {
  ib_qp* qp = sender(64);
  EXPECT_EQ(post_inline(qp, 65), -EINVAL);
  EXPECT_TRUE(host.blocks.empty());
  EXPECT_TRUE(host.rung(hw::bar::kSendDoorbell).empty());
}

}  // namespace
}  // namespace hcasim::rvt
