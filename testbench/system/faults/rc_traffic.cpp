// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "rc_traffic.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace hcasim::faults {

namespace {

constexpr std::array kOpcodes = {
    rvt::IB_WR_SEND,       rvt::IB_WR_SEND_WITH_IMM,       rvt::IB_WR_RDMA_WRITE,
    rvt::IB_WR_RDMA_READ,  rvt::IB_WR_RDMA_WRITE_WITH_IMM, rvt::IB_WR_ATOMIC_FETCH_AND_ADD,
    rvt::IB_WR_RDMA_WRITE, rvt::IB_WR_ATOMIC_CMP_AND_SWP,
};
constexpr std::uint32_t kInlineBytes = 64;

bool has_immediate(rvt::ib_wr_opcode opcode) {
  return opcode == rvt::IB_WR_SEND_WITH_IMM || opcode == rvt::IB_WR_RDMA_WRITE_WITH_IMM;
}

}  // namespace

bool RcMessage::consumes_receive() const {
  return opcode == rvt::IB_WR_SEND || opcode == rvt::IB_WR_SEND_WITH_INV || has_immediate(opcode);
}

void RcTraffic::prepare() {
  qps_ = pair_.connect(plan_.pair);
  for (std::size_t node = 0; node < 2; ++node) {
    Direction& direction = directions_[node];
    direction.counter = area(plan_.messages, node);
    const std::uint64_t zero = 0;
    pair_.write(1 - node, direction.counter, &zero, sizeof zero);
    for (std::uint32_t i = 0; i < plan_.messages; ++i) {
      direction.messages.push_back(draw(direction, node, i));
      if (direction.messages.back().consumes_receive()) direction.receives.push_back(i);
      fill(direction.messages.back(), node);
    }
    register_fast(direction, 1 - node);
  }
}

RcMessage RcTraffic::draw(Direction& direction, std::size_t node, std::uint32_t index) {
  RcMessage message;
  message.opcode = kOpcodes[random_.below(kOpcodes.size())];
  if (index == plan_.messages / 2) message.opcode = rvt::IB_WR_SEND_WITH_INV;
  message.bytes = static_cast<std::uint32_t>(random_.below(kAreaBytes + 1));
  message.imm = static_cast<std::uint32_t>(random_.next());
  message.local = message.remote = area(index, node);
  message.fence = random_.below(4) == 0;
  if (message.is_atomic()) {
    message.bytes = 8;
    message.remote = direction.counter;
  } else if (message.opcode != rvt::IB_WR_RDMA_READ && random_.below(4) == 0) {
    message.inline_data = true;
    message.bytes = static_cast<std::uint32_t>(random_.below(kInlineBytes + 1));
  }
  return message;
}

// The region whose key the message in the middle invalidates: a second time is refused.
void RcTraffic::register_fast(Direction& direction, std::size_t receiver) {
  rvt::ib_reg_wr wr;
  pair_.system().run_task(receiver, [&] {
    direction.fast = rvt::ib_alloc_mr(pair_.end(receiver).pd, rvt::IB_MR_TYPE_MEM_REG, 1);
  });
  ASSERT_FALSE(rvt::IS_ERR(direction.fast));
  const rvt::scatterlist page{pair_.end(receiver).memory, 4096};
  wr.mr = direction.fast;
  ASSERT_EQ(rvt::ib_map_mr_sg(wr.mr, &page, 1, nullptr, 4096), 1);
  wr.key = direction.fast_key = rvt::ib_inc_rkey(wr.mr->rkey);
  wr.access = rvt::IB_ACCESS_LOCAL_WRITE | rvt::IB_ACCESS_REMOTE_WRITE;
  wr.wr.opcode = rvt::IB_WR_REG_MR;
  wr.wr.wr_id = plan_.messages;  // none of the messages
  wr.wr.send_flags = rvt::IB_SEND_SIGNALED;
  ASSERT_EQ(rvt::ib_post_send(qps_[receiver], &wr.wr, nullptr), 0);
}

// Different bytes on both sides, so that what did not arrive shows.
void RcTraffic::fill(const RcMessage& message, std::size_t node) {
  std::array<std::uint64_t, kAreaBytes / 8> words;
  for (const std::size_t side : {node, 1 - node}) {
    if (side != node && message.is_atomic()) return;
    for (std::uint64_t& word : words) word = random_.next();
    pair_.write(side, message.local, words.data(), message.bytes);
  }
}

void RcTraffic::run(std::size_t node) {
  Pauses drawn = pauses(node);
  const std::vector<std::uint32_t>& receives = directions_[1 - node].receives;
  std::size_t posted = 0;
  const auto post_receives = [&](std::size_t count) {
    for (; posted < receives.size() && count > 0; --count) post_receive(node, receives[posted++]);
  };
  for (std::uint32_t i = 0; i < plan_.messages; ++i) {
    if (drawn.below(3) == 0) drawn.pause(5'000);
    if (drawn.below(2) == 0) post_receives(1 + drawn.below(3));
    post(node, i);
  }
  while (posted < receives.size()) {
    drawn.pause(plan_.receive_pause_ns);
    post_receives(1 + drawn.below(4));
  }
}

void RcTraffic::post(std::size_t node, std::uint32_t index) {
  const RcMessage& message = directions_[node].messages[index];
  support::Endpoint& peer = pair_.end(1 - node);
  rvt::ib_sge sge{pair_.end(node).memory + message.local, message.bytes, pair_.end(node).mr->lkey};
  rvt::ib_rdma_wr rdma;
  rvt::ib_atomic_wr atomic;
  rvt::ib_send_wr& wr = message.is_atomic() ? atomic.wr : rdma.wr;
  wr.wr_id = index;
  wr.opcode = message.opcode;
  wr.sg_list = &sge;
  wr.num_sge = message.bytes == 0 ? 0 : 1;
  wr.send_flags = rvt::IB_SEND_SIGNALED;
  if (message.inline_data) wr.send_flags |= rvt::IB_SEND_INLINE;
  if (message.fence) wr.send_flags |= rvt::IB_SEND_FENCE;
  wr.ex.imm_data = rvt::cpu_to_be32(message.imm);
  if (message.opcode == rvt::IB_WR_SEND_WITH_INV) {
    wr.ex.invalidate_rkey = directions_[node].fast_key;
  }
  rdma.remote_addr = atomic.remote_addr = peer.memory + message.remote;
  rdma.rkey = atomic.rkey = peer.mr->rkey;
  // Every atomic counts one up, in one way or the other, so each value is returned once.
  const auto before = static_cast<std::uint64_t>(
      std::count_if(directions_[node].messages.begin(), directions_[node].messages.begin() + index,
                    [](const RcMessage& earlier) { return earlier.is_atomic(); }));
  const bool swap = message.opcode == rvt::IB_WR_ATOMIC_CMP_AND_SWP;
  atomic.compare_add = swap ? before : 1;
  atomic.swap = before + 1;
  ASSERT_EQ(rvt::ib_post_send(qps_[node], &wr, nullptr), 0);
}

void RcTraffic::post_receive(std::size_t node, std::uint32_t index) {
  const RcMessage& message = directions_[1 - node].messages[index];
  rvt::ib_sge sge{pair_.end(node).memory + message.remote, message.bytes, pair_.end(node).mr->lkey};
  rvt::ib_recv_wr wr;
  wr.wr_id = index;
  wr.sg_list = &sge;
  wr.num_sge = message.opcode == rvt::IB_WR_RDMA_WRITE_WITH_IMM || message.bytes == 0 ? 0 : 1;
  ASSERT_EQ(rvt::ib_post_recv(qps_[node], &wr, nullptr), 0);
}

bool RcTraffic::take(std::size_t node, const rvt::ib_wc& wc) {
  if (wc.qp != qps_[node]) return false;
  if ((wc.opcode & rvt::IB_WC_RECV) != 0) {
    take_receive(directions_[1 - node], wc);
  } else if (wc.wr_id < plan_.messages) {
    take_send(directions_[node], wc);
  } else {
    EXPECT_EQ(wc.status, rvt::IB_WC_SUCCESS);  // REG_MR
  }
  return true;
}

void RcTraffic::take_send(Direction& direction, const rvt::ib_wc& wc) {
  EXPECT_EQ(wc.wr_id, direction.sends_completed++) << "sends complete in order";
  RcMessage& message = direction.messages.at(wc.wr_id);
  message.completed = true;
  message.status = wc.status;
}

void RcTraffic::take_receive(Direction& direction, const rvt::ib_wc& wc) {
  if (wc.status != rvt::IB_WC_SUCCESS) {
    EXPECT_TRUE(plan_.host_fails || wc.status == rvt::IB_WC_WR_FLUSH_ERR) << int{wc.status};
    direction.receives_broken = true;
    return;
  }
  EXPECT_FALSE(direction.receives_broken) << "a receive that succeeds behind one that was flushed";
  const RcMessage& message = direction.messages.at(wc.wr_id);
  direction.received.push_back(static_cast<std::uint32_t>(wc.wr_id));
  EXPECT_EQ(wc.byte_len, message.bytes);
  EXPECT_EQ((wc.wc_flags & rvt::IB_WC_WITH_IMM) != 0, has_immediate(message.opcode));
  if (has_immediate(message.opcode)) {
    EXPECT_EQ(rvt::be32_to_cpu(wc.ex.imm_data), message.imm);
  }
}

void RcTraffic::check() {
  for (std::size_t node = 0; node < 2; ++node) {
    SCOPED_TRACE(name_of(node));
    check_order(directions_[node]);
    check_receives(directions_[node]);
    for (const RcMessage& message : directions_[node].messages) check_data(node, message);
    check_counter(node);
  }
  for (Direction& direction : directions_) {
    const std::size_t receiver = &direction == directions_.data() ? 1 : 0;
    pair_.system().run_task(receiver, [&] { EXPECT_EQ(rvt::ib_dereg_mr(direction.fast), 0); });
  }
}

// All succeed; or some, then one fails for want of retries, and the rest is flushed.
void RcTraffic::check_order(const Direction& direction) const {
  bool failed = false;
  for (std::uint32_t i = 0; i < direction.messages.size(); ++i) {
    const RcMessage& message = direction.messages[i];
    EXPECT_TRUE(message.completed) << "message " << i << " of opcode " << int{message.opcode};
    if (!message.completed) return;
    if (failed) {
      EXPECT_EQ(message.status, rvt::IB_WC_WR_FLUSH_ERR) << "message " << i;
    } else if (message.status != rvt::IB_WC_SUCCESS) {
      failed = true;
      if (plan_.host_fails) continue;
      EXPECT_TRUE(plan_.may_fail) << "message " << i << ", status " << int{message.status};
      EXPECT_TRUE(message.status == rvt::IB_WC_RETRY_EXC_ERR ||
                  message.status == rvt::IB_WC_RNR_RETRY_EXC_ERR)
          << "message " << i << ", status " << int{message.status};
    }
  }
}

// Receives complete once each and in order. Those of messages that the sender knows to be done are
// all there; of the others some may be, as their acknowledgement may be what was lost.
void RcTraffic::check_receives(const Direction& direction) const {
  const std::size_t count = direction.received.size();
  ASSERT_LE(count, direction.receives.size());
  EXPECT_TRUE(
      std::equal(direction.received.begin(), direction.received.end(), direction.receives.begin()));
  std::size_t known = 0;
  for (const std::uint32_t index : direction.receives) {
    known += direction.messages[index].status == rvt::IB_WC_SUCCESS ? 1 : 0;
  }
  EXPECT_GE(count, known);
}

void RcTraffic::check_data(std::size_t node, const RcMessage& message) {
  if (message.status != rvt::IB_WC_SUCCESS || message.is_atomic() || message.bytes == 0) return;
  std::array<std::uint8_t, kAreaBytes> here;
  std::array<std::uint8_t, kAreaBytes> there;
  pair_.read(node, message.local, here.data(), message.bytes);
  pair_.read(1 - node, message.remote, there.data(), message.bytes);
  EXPECT_TRUE(std::equal(here.begin(), here.begin() + message.bytes, there.begin()))
      << "opcode " << int{message.opcode} << ", " << message.bytes << " bytes";
}

// Each atomic was carried out once, and returned what the one before it left.
void RcTraffic::check_counter(std::size_t node) {
  const Direction& direction = directions_[node];
  std::uint64_t done = 0;
  std::uint64_t posted = 0;
  for (const RcMessage& message : direction.messages) {
    if (!message.is_atomic()) continue;
    ++posted;
    if (message.status != rvt::IB_WC_SUCCESS) continue;
    std::uint64_t returned = 0;
    pair_.read(node, message.local, &returned, sizeof returned);
    EXPECT_EQ(returned, done++);
  }
  std::uint64_t counter = 0;
  pair_.read(1 - node, direction.counter, &counter, sizeof counter);
  EXPECT_GE(counter, done);
  EXPECT_LE(counter, done == posted || !plan_.may_fail ? done : posted);
}

std::uint32_t RcTraffic::ended_with(rvt::ib_wc_status status) const {
  std::uint32_t count = 0;
  for (const Direction& direction : directions_) {
    for (const RcMessage& message : direction.messages) count += message.status == status ? 1 : 0;
  }
  return count;
}

}  // namespace hcasim::faults
