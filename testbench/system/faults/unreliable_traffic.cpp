// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "unreliable_traffic.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace hcasim::faults {

namespace {

constexpr std::array kOpcodes = {rvt::IB_WR_SEND, rvt::IB_WR_SEND_WITH_IMM, rvt::IB_WR_RDMA_WRITE,
                                 rvt::IB_WR_RDMA_WRITE_WITH_IMM};
constexpr std::uint32_t kGrh = 40;  // before a datagram
constexpr std::uint32_t kMostBytes = kAreaBytes - 64;
constexpr std::uint32_t kMostDatagramBytes = 4096;
constexpr std::uint32_t kInlineBytes = 64;
constexpr std::uint32_t kLeastBytes = 4;  // what has no immediate begins with its number

using Area = std::array<std::uint8_t, kAreaBytes>;

}  // namespace

UnreliableTraffic::~UnreliableTraffic() {
  for (const Direction& direction : directions_) {
    if (direction.ah != nullptr) rvt::rdma_destroy_ah(direction.ah);
  }
}

std::uint32_t UnreliableTraffic::header_bytes() const {
  return datagrams() ? kGrh : 0;
}

void UnreliableTraffic::prepare() {
  qps_ = pair_.connect(plan_.pair);
  const std::uint32_t most = datagrams() ? kMostDatagramBytes : kMostBytes;
  for (std::size_t node = 0; node < 2; ++node) {
    Direction& direction = directions_[node];
    for (std::uint32_t i = 0; i < plan_.messages; ++i) {
      add(node, draw());
      const bool small = random_.below(4) == 0;
      const auto bytes = static_cast<std::uint32_t>(small ? random_.below(most) : most);
      direction.receives.push_back({area(2 * plan_.messages + i, node), bytes + header_bytes()});
    }
    if (!datagrams()) continue;
    const rvt::rdma_ah_attr path = pair_.path_from(node);
    direction.ah = rvt::rdma_create_ah(pair_.end(node).pd, &path);
    ASSERT_FALSE(rvt::IS_ERR(direction.ah));
  }
}

UnreliableMessage UnreliableTraffic::draw() {
  UnreliableMessage message;
  message.opcode = kOpcodes[random_.below(datagrams() ? 2 : kOpcodes.size())];
  message.inline_data = random_.below(4) == 0;
  const std::uint32_t most = datagrams() ? kMostDatagramBytes : kMostBytes;
  const std::uint32_t least = message.has_immediate() ? 0 : kLeastBytes;
  const std::uint32_t span = (message.inline_data ? kInlineBytes : most) - least + 1;
  message.bytes = least + static_cast<std::uint32_t>(random_.below(span));
  return message;
}

void UnreliableTraffic::add(std::size_t node, UnreliableMessage message) {
  std::vector<UnreliableMessage>& messages = directions_[node].messages;
  message.area = area(static_cast<std::uint32_t>(messages.size()), node);
  messages.push_back(message);
  fill(node, static_cast<std::uint32_t>(messages.size() - 1));
}

// Where a WRITE goes to there is the complement of what it brings, so that each byte tells.
void UnreliableTraffic::fill(std::size_t node, std::uint32_t index) {
  std::array<std::uint64_t, kAreaBytes / 8> words;
  for (std::uint64_t& word : words) word = random_.next();
  words[0] = words[0] << 32 | index;
  const UnreliableMessage& message = directions_[node].messages[index];
  pair_.write(node, message.area, words.data(), sizeof words);
  for (std::uint64_t& word : words) word = ~word;
  pair_.write(1 - node, message.area, words.data(), sizeof words);
}

void UnreliableTraffic::run(std::size_t node) {
  Pauses drawn = pauses(node);
  post_receives(node, drawn.below(plan_.messages));
  for (std::uint32_t i = 0; i < plan_.messages; ++i) {
    if (drawn.below(2) == 0) drawn.pause(5'000);
    if (drawn.below(2) == 0) post_receives(node, 1 + drawn.below(3));
    post(node, i);
  }
  while (directions_[1 - node].receives_posted < directions_[1 - node].receives.size()) {
    drawn.pause(plan_.receive_pause_ns);
    post_receives(node, 1 + drawn.below(4));
  }
}

void UnreliableTraffic::post(std::size_t node, std::uint32_t index) {
  const UnreliableMessage& message = directions_[node].messages[index];
  support::Endpoint& peer = pair_.end(1 - node);
  const rvt::ib_sge sge{pair_.end(node).memory + message.area, message.bytes,
                        pair_.end(node).mr->lkey};
  rvt::ib_rdma_wr rdma;
  rvt::ib_ud_wr datagram;
  rvt::ib_send_wr& wr = datagrams() ? datagram.wr : rdma.wr;
  wr.wr_id = index;
  wr.opcode = message.opcode;
  wr.sg_list = &sge;
  wr.num_sge = message.bytes == 0 ? 0 : 1;
  wr.send_flags = rvt::IB_SEND_SIGNALED;
  if (message.inline_data) wr.send_flags |= rvt::IB_SEND_INLINE;
  wr.ex.imm_data = rvt::cpu_to_be32(index);
  rdma.remote_addr = peer.memory + message.area;
  rdma.rkey = peer.mr->rkey;
  datagram.ah = directions_[node].ah;
  datagram.remote_qpn = qps_[1 - node]->qp_num;
  datagram.remote_qkey = support::kQkey;
  ASSERT_EQ(rvt::ib_post_send(qps_[node], &wr, nullptr), 0);
}

void UnreliableTraffic::post_receives(std::size_t node, std::size_t count) {
  Direction& direction = directions_[1 - node];
  const std::size_t end = std::min(direction.receives.size(), direction.receives_posted + count);
  for (; direction.receives_posted < end; ++direction.receives_posted) {
    const Receive& receive = direction.receives[direction.receives_posted];
    const rvt::ib_sge sge{pair_.end(node).memory + receive.area, receive.bytes,
                          pair_.end(node).mr->lkey};
    rvt::ib_recv_wr wr;
    wr.wr_id = direction.receives_posted;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    ASSERT_EQ(rvt::ib_post_recv(qps_[node], &wr, nullptr), 0);
  }
}

bool UnreliableTraffic::take(std::size_t node, const rvt::ib_wc& wc) {
  if (wc.qp != qps_[node]) return false;
  if ((wc.opcode & rvt::IB_WC_RECV) != 0) {
    take_receive(1 - node, wc);
    return true;
  }
  Direction& direction = directions_[node];
  EXPECT_EQ(wc.wr_id, direction.ends.size()) << "sends complete in order";
  EXPECT_TRUE(plan_.host_fails || wc.status == rvt::IB_WC_SUCCESS) << int{wc.status};
  direction.ends.push_back(wc.status);
  return true;
}

// Of a message from `node`.
void UnreliableTraffic::take_receive(std::size_t node, const rvt::ib_wc& wc) {
  Direction& direction = directions_[node];
  EXPECT_EQ(wc.wr_id, direction.receives_completed++) << "receives complete in order";
  if (wc.status != rvt::IB_WC_SUCCESS) {
    EXPECT_TRUE(plan_.host_fails) << int{wc.status};
    direction.receives_broken = true;
    return;
  }
  EXPECT_FALSE(direction.receives_broken) << "a receive that succeeds behind one that was flushed";
  const Receive& receive = direction.receives.at(wc.wr_id);
  const std::uint32_t index = index_of(node, receive, wc);
  ASSERT_LT(index, direction.messages.size());
  UnreliableMessage& message = direction.messages[index];
  ++message.received;
  EXPECT_EQ(wc.byte_len, message.bytes + header_bytes());
  EXPECT_EQ(wc.src_qp, qps_[node]->qp_num);
  EXPECT_EQ((wc.wc_flags & rvt::IB_WC_WITH_IMM) != 0, message.has_immediate());
  EXPECT_EQ((wc.wc_flags & rvt::IB_WC_GRH) != 0, datagrams());
  EXPECT_EQ(wc.opcode == rvt::IB_WC_RECV_RDMA_WITH_IMM, message.is_write());
  EXPECT_NE(message.opcode, rvt::IB_WR_RDMA_WRITE) << "takes no receive";
  expect_whole(node, message, message.is_write() ? message.area : receive.area + header_bytes());
  expect_in_order(direction, index);
}

std::uint32_t UnreliableTraffic::index_of(std::size_t node, const Receive& receive,
                                          const rvt::ib_wc& wc) {
  if ((wc.wc_flags & rvt::IB_WC_WITH_IMM) != 0) return rvt::be32_to_cpu(wc.ex.imm_data);
  std::uint32_t index = 0;
  pair_.read(1 - node, receive.area + header_bytes(), &index, sizeof index);
  return index;
}

void UnreliableTraffic::expect_whole(std::size_t node, const UnreliableMessage& message,
                                     std::uint64_t at) {
  Area here;
  Area there;
  pair_.read(node, message.area, here.data(), message.bytes);
  pair_.read(1 - node, at, there.data(), message.bytes);
  EXPECT_TRUE(std::equal(here.begin(), here.begin() + message.bytes, there.begin()))
      << "opcode " << int{message.opcode} << ", " << message.bytes << " bytes";
}

void UnreliableTraffic::expect_in_order(Direction& direction, std::uint32_t index) {
  if (plan_.link_duplicates) return;
  EXPECT_EQ(direction.messages[index].received, 1u) << "message " << index << " came again";
  if (plan_.link_reorders) return;
  EXPECT_GE(index, direction.next_in_order) << "a message behind one that was sent later";
  direction.next_in_order = index + 1;
}

void UnreliableTraffic::check() {
  for (std::size_t node = 0; node < 2; ++node) {
    SCOPED_TRACE(name_of(node));
    Direction& direction = directions_[node];
    EXPECT_EQ(direction.ends.size(), direction.messages.size()) << "every send completes";
    for (const UnreliableMessage& message : direction.messages) {
      if (message.is_write()) check_write(node, message);
    }
    if (plan_.host_fails) continue;
    use_left_receives(node);
  }
}

// Packet by packet it came or did not.
void UnreliableTraffic::check_write(std::size_t node, const UnreliableMessage& message) {
  Area here;
  Area there;
  pair_.read(node, message.area, here.data(), kAreaBytes);
  pair_.read(1 - node, message.area, there.data(), kAreaBytes);
  const std::uint32_t mtu = 128u << plan_.pair.mtu;
  for (std::uint32_t from = 0; from < kAreaBytes; from += mtu) {
    const std::uint32_t to = std::min(from + mtu, std::max(from, message.bytes));
    const bool came = to > from && there[from] == here[from];
    for (std::uint32_t i = from; i < std::min<std::uint32_t>(from + mtu, kAreaBytes); ++i) {
      const auto expected = static_cast<std::uint8_t>(i < to && came ? here[i] : ~here[i]);
      ASSERT_EQ(there[i], expected) << "byte " << i << " of " << message.bytes;
    }
  }
}

// One message after the other, for a switch may have room for no more. Each is as long as its
// receive, which shows that this is the one that it finds.
void UnreliableTraffic::use_left_receives(std::size_t node) {
  Direction& direction = directions_[node];
  while (direction.receives_completed < direction.receives.size()) {
    const std::size_t before = direction.receives_completed;
    UnreliableMessage message;
    message.opcode = rvt::IB_WR_SEND_WITH_IMM;
    message.bytes = direction.receives[before].bytes - header_bytes();
    add(node, message);
    post(node, static_cast<std::uint32_t>(direction.messages.size() - 1));
    pair_.settle();
    for (const std::size_t side : {node, 1 - node}) {
      for (const rvt::ib_wc& wc : pair_.poll(side)) EXPECT_TRUE(take(side, wc));
    }
    ASSERT_EQ(direction.receives_completed, before + 1) << "a receive that is left is of no use";
    EXPECT_EQ(direction.messages.back().received, 1u);
  }
  EXPECT_EQ(direction.ends.size(), direction.messages.size());
}

std::uint32_t UnreliableTraffic::ended_with(rvt::ib_wc_status status) const {
  std::uint32_t count = 0;
  for (const Direction& direction : directions_) {
    count += static_cast<std::uint32_t>(std::ranges::count(direction.ends, status));
  }
  return count;
}

}  // namespace hcasim::faults
