// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Every byte of UC and UD arrives as it was sent, and what finds no receive costs itself alone.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "support/connected_pair.hpp"
#include "support/seed.hpp"

namespace hcasim {
namespace {

constexpr std::uint64_t kArea = 64 * 1024;  // of one message, on either side
constexpr std::uint32_t kMessages = 12;     // of one seed
constexpr std::uint32_t kSeeds = 40;
constexpr std::uint32_t kHeader = 40;  // before a datagram

struct Message {
  rvt::ib_wr_opcode opcode = rvt::IB_WR_SEND;
  std::uint32_t bytes = 0;
  bool received = false;  // into a receive
  bool inline_data = false;
};

class Unreliable : public testing::Test {
 protected:
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }

  void fill() {
    std::vector<std::uint64_t> words(kMessages * kArea / 8);
    for (std::size_t node = 0; node < 2; ++node) {
      for (std::uint64_t& word : words) word = random_();
      pair_.write(node, 0, words.data(), words.size() * 8);
    }
  }

  Message draw(bool datagram, std::uint32_t mtu) {
    constexpr rvt::ib_wr_opcode kOpcodes[] = {rvt::IB_WR_SEND, rvt::IB_WR_SEND_WITH_IMM,
                                              rvt::IB_WR_RDMA_WRITE,
                                              rvt::IB_WR_RDMA_WRITE_WITH_IMM};
    Message message;
    message.opcode = kOpcodes[below(datagram ? 2 : 4)];
    message.bytes = below((datagram ? 4096 : 4 * mtu) + 1);
    message.received = message.opcode != rvt::IB_WR_RDMA_WRITE;
    message.inline_data = below(4) == 0;
    if (message.inline_data) message.bytes = below(65);
    return message;
  }

  void post_receive(std::uint32_t index, std::uint32_t bytes) {
    const rvt::ib_sge data{pair_.end(1).memory + index * kArea, bytes, pair_.end(1).mr->lkey};
    rvt::ib_recv_wr receive;
    receive.wr_id = index;
    receive.sg_list = &data;
    receive.num_sge = 1;
    ASSERT_EQ(rvt::ib_post_recv(pair_.end(1).qp, &receive, nullptr), 0);
  }

  void post_send(const Message& message, std::uint32_t index, rvt::ib_ah* ah) {
    const rvt::ib_sge data{pair_.end(0).memory + index * kArea, message.bytes,
                           pair_.end(0).mr->lkey};
    rvt::ib_rdma_wr rdma;
    rvt::ib_ud_wr datagram;
    rvt::ib_send_wr& wr = ah != nullptr ? datagram.wr : rdma.wr;
    wr.wr_id = index;
    wr.opcode = message.opcode;
    wr.sg_list = &data;
    wr.num_sge = 1;
    wr.send_flags = rvt::IB_SEND_SIGNALED;
    if (message.inline_data) wr.send_flags |= rvt::IB_SEND_INLINE;
    wr.ex.imm_data = rvt::cpu_to_be32(index);
    rdma.remote_addr = pair_.end(1).memory + index * kArea;
    rdma.rkey = pair_.end(1).mr->rkey;
    datagram.ah = ah;
    datagram.remote_qpn = pair_.end(1).qp->qp_num;
    datagram.remote_qkey = below(2) == 0 ? support::kQkey : 0x8000'0000;
    ASSERT_EQ(rvt::ib_post_send(pair_.end(0).qp, &wr, nullptr), 0);
  }

  void expect_same(const Message& message, std::uint32_t index, std::uint32_t offset) {
    std::vector<std::uint8_t> here(message.bytes);
    std::vector<std::uint8_t> there(message.bytes);
    if (message.bytes == 0) return;
    pair_.read(0, index * kArea, here.data(), message.bytes);
    pair_.read(1, index * kArea + offset, there.data(), message.bytes);
    EXPECT_EQ(here, there) << "message " << index << ", opcode " << int{message.opcode};
  }

  void run(rvt::ib_qp_type type, std::uint64_t seed) {
    random_.seed(seed);
    const bool is_datagram = type == rvt::IB_QPT_UD;
    support::PairOptions options;
    options.type = type;
    options.mtu = static_cast<rvt::ib_mtu>(1 + below(5));
    options.sq_psn = below(2) == 0 ? 0xfffff0 + below(16) : below(0x1000000);
    pair_.connect(options);
    fill();
    rvt::ib_ah* ah = nullptr;
    const rvt::rdma_ah_attr path = pair_.path_from(0);
    if (is_datagram) ah = rvt::rdma_create_ah(pair_.end(0).pd, &path);
    const std::uint32_t offset = is_datagram ? kHeader : 0;
    std::vector<Message> messages;
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < kMessages; ++i) {
      messages.push_back(draw(is_datagram, 128u << options.mtu));
      if (!messages[i].received) continue;
      expected.push_back(i);
      post_receive(i, messages[i].bytes + offset);
    }
    for (std::uint32_t i = 0; i < kMessages; ++i) post_send(messages[i], i, ah);
    if (ah != nullptr) rvt::rdma_destroy_ah(ah);  // the sends do not need it any more
    pair_.settle();
    const auto sent = pair_.poll(0);
    ASSERT_EQ(sent.size(), kMessages);
    for (const rvt::ib_wc& wc : sent) EXPECT_EQ(wc.status, rvt::IB_WC_SUCCESS);
    const auto received = pair_.poll(1);
    ASSERT_EQ(received.size(), expected.size());
    for (std::size_t i = 0; i < received.size(); ++i) {
      EXPECT_EQ(received[i].wr_id, expected[i]);
      EXPECT_EQ(received[i].byte_len, messages[expected[i]].bytes + offset);
      EXPECT_EQ(received[i].src_qp, pair_.end(0).qp->qp_num);
      EXPECT_EQ((received[i].wc_flags & rvt::IB_WC_GRH) != 0, is_datagram);
    }
    for (std::uint32_t i = 0; i < kMessages; ++i) expect_same(messages[i], i, offset);
    pair_.disconnect();
  }

  support::ConnectedPair pair_{kMessages * kArea};
  std::mt19937_64 random_;
};

TEST_F(Unreliable, EveryByteOfUcArrives) {
  for (std::uint32_t n = 0; n < kSeeds && !HasFailure(); ++n) {
    run(rvt::IB_QPT_UC, support::test_seed(1) + n);
  }
}

TEST_F(Unreliable, EveryByteOfUdArrives) {
  for (std::uint32_t n = 0; n < kSeeds && !HasFailure(); ++n) {
    run(rvt::IB_QPT_UD, support::test_seed(1) + n);
  }
}

// Of messages without receive the sender hears nothing; the next ones are as good as any.
TEST_F(Unreliable, WithoutReceiveOnlyTheMessageIsLost) {
  for (const auto type : {rvt::IB_QPT_UC, rvt::IB_QPT_UD}) {
    support::PairOptions options;
    options.type = type;
    pair_.connect(options);
    fill();
    const bool is_datagram = type == rvt::IB_QPT_UD;
    rvt::ib_ah* ah = nullptr;
    const rvt::rdma_ah_attr path = pair_.path_from(0);
    if (is_datagram) ah = rvt::rdma_create_ah(pair_.end(0).pd, &path);
    Message message;
    message.bytes = is_datagram ? 1024 : 3000;
    post_send(message, 0, ah);
    pair_.settle();
    EXPECT_EQ(pair_.poll(0).size(), 1u);
    EXPECT_TRUE(pair_.poll(1).empty());
    post_receive(1, message.bytes + (is_datagram ? kHeader : 0));
    post_send(message, 1, ah);
    pair_.settle();
    EXPECT_EQ(pair_.poll(1).size(), 1u);
    expect_same(message, 1, is_datagram ? kHeader : 0);
    pair_.poll(0);
    if (ah != nullptr) rvt::rdma_destroy_ah(ah);
    pair_.disconnect();
  }
}

}  // namespace
}  // namespace hcasim
