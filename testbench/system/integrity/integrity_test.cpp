// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Every byte arrives as it was sent: each opcode of RC, each MTU, 1 to 8 SGEs on either side, over
// seeds that draw lengths, cuts, offsets, PSNs and inline data.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "support/connected_pair.hpp"
#include "support/seed.hpp"

namespace hcasim {
namespace {

constexpr std::uint64_t kArea = 64 * 1024;  // of one message, on either side
constexpr std::uint32_t kMessages = 10;     // of one seed
constexpr std::uint32_t kSeeds = 100;

const std::vector<rvt::ib_wr_opcode> kOpcodes = {
    rvt::IB_WR_SEND,
    rvt::IB_WR_SEND_WITH_IMM,
    rvt::IB_WR_RDMA_WRITE,
    rvt::IB_WR_RDMA_READ,
    rvt::IB_WR_RDMA_WRITE_WITH_IMM,
    rvt::IB_WR_ATOMIC_CMP_AND_SWP,
    rvt::IB_WR_ATOMIC_FETCH_AND_ADD,
    rvt::IB_WR_SEND_WITH_INV,
};

bool is_atomic(rvt::ib_wr_opcode opcode) {
  return opcode == rvt::IB_WR_ATOMIC_CMP_AND_SWP || opcode == rvt::IB_WR_ATOMIC_FETCH_AND_ADD;
}
bool is_send(rvt::ib_wr_opcode opcode) {
  return opcode == rvt::IB_WR_SEND || opcode == rvt::IB_WR_SEND_WITH_IMM ||
         opcode == rvt::IB_WR_SEND_WITH_INV;
}
bool has_immediate(rvt::ib_wr_opcode opcode) {
  return opcode == rvt::IB_WR_SEND_WITH_IMM || opcode == rvt::IB_WR_RDMA_WRITE_WITH_IMM;
}
bool consumes_receive(rvt::ib_wr_opcode opcode) {
  return is_send(opcode) || opcode == rvt::IB_WR_RDMA_WRITE_WITH_IMM;
}

struct Message {
  rvt::ib_wr_opcode opcode = rvt::IB_WR_SEND;
  std::uint32_t bytes = 0;
  bool inline_data = false;
  std::vector<rvt::ib_sge> local;    // at the sender
  std::vector<rvt::ib_sge> receive;  // at the receiver
  std::uint64_t remote_offset = 0;   // in the receiver's region
  std::uint64_t compare_add = 0;
  std::uint64_t swap = 0;
  std::uint64_t before = 0;  // atomics: what the receiver's memory held
  std::uint32_t imm = 0;
  std::uint32_t key = 0;  // of a fast-register region of the receiver
};

class Traffic {
 public:
  explicit Traffic(std::uint64_t seed) : random_(seed) {}

  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
  std::uint64_t word() { return random_(); }

  /// Cuts `bytes` into `pieces` (some may be empty) that lie apart within the message's area.
  std::vector<rvt::ib_sge> cut(std::uint32_t bytes, std::uint32_t pieces, std::uint64_t area,
                               std::uint32_t key) {
    std::vector<std::uint32_t> ends;
    for (std::uint32_t i = 0; i + 1 < pieces; ++i) ends.push_back(below(bytes + 1));
    ends.push_back(bytes);
    std::sort(ends.begin(), ends.end());
    std::vector<rvt::ib_sge> sges;
    std::uint64_t address = area + below(64);
    std::uint32_t from = 0;
    for (const std::uint32_t end : ends) {
      sges.push_back({address, end - from, key});
      address += end - from + below(100);
      from = end;
    }
    return sges;
  }

 private:
  std::mt19937_64 random_;
};

std::vector<std::uint8_t> gather(support::ConnectedPair& pair, std::size_t node,
                                 const std::vector<rvt::ib_sge>& sges) {
  std::vector<std::uint8_t> bytes;
  for (const rvt::ib_sge& sge : sges) {
    std::vector<std::uint8_t> part(sge.length);
    if (sge.length != 0) {
      pair.read(node, sge.addr - pair.end(node).memory, part.data(), sge.length);
    }
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return bytes;
}

/// How often each combination was drawn.
struct Coverage {
  std::map<std::pair<int, int>, int> opcode_and_mtu;
  std::map<std::pair<int, int>, int> opcode_and_sges;
  std::map<std::pair<int, int>, int> mtu_and_sges;
};

class Integrity : public testing::Test {
 protected:
  Integrity() : Integrity(std::vector<std::string>{}) {}
  // Regions of the receiver, one for each message that may invalidate.
  void SetUp() override {
    pair_.system().run_task(1, [this] {
      for (rvt::ib_mr*& mr : fast_) {
        mr = rvt::ib_alloc_mr(pair_.end(1).pd, rvt::IB_MR_TYPE_MEM_REG, kArea / 4096);
        ASSERT_FALSE(rvt::IS_ERR(mr));
      }
    });
    pair_.settle();  // both nodes are at one time again
  }
  void TearDown() override {
    pair_.system().run_task(1, [this] {
      for (rvt::ib_mr* mr : fast_) EXPECT_EQ(rvt::ib_dereg_mr(mr), 0);
    });
  }

  // Registers the area of a message at the receiver, under a new key.
  std::uint32_t register_area(std::uint32_t index) {
    rvt::ib_reg_wr wr;
    wr.mr = fast_[index];
    const rvt::scatterlist area{pair_.end(1).memory + index * kArea, kArea};
    EXPECT_EQ(rvt::ib_map_mr_sg(wr.mr, &area, 1, nullptr, 4096), 1);
    wr.key = rvt::ib_inc_rkey(wr.mr->rkey);
    wr.access = rvt::IB_ACCESS_LOCAL_WRITE | rvt::IB_ACCESS_REMOTE_WRITE;
    wr.wr.opcode = rvt::IB_WR_REG_MR;
    wr.wr.send_flags = rvt::IB_SEND_SIGNALED;
    EXPECT_EQ(rvt::ib_post_send(pair_.end(1).qp, &wr.wr, nullptr), 0);
    return wr.key;
  }

  // Registers what the messages are to invalidate.
  void register_areas(std::vector<Message>& messages) {
    std::size_t registered = 0;
    for (std::uint32_t i = 0; i < messages.size(); ++i) {
      if (messages[i].opcode != rvt::IB_WR_SEND_WITH_INV) continue;
      messages[i].key = register_area(i);
      ++registered;
    }
    if (registered == 0) return;
    pair_.settle();
    const auto done = pair_.poll(1);
    ASSERT_EQ(done.size(), registered);
    for (const rvt::ib_wc& wc : done) {
      EXPECT_EQ(wc.status, rvt::IB_WC_SUCCESS);
      EXPECT_EQ(wc.opcode, rvt::IB_WC_REG_MR);
    }
  }

  Message draw(Traffic& traffic, std::uint32_t index, std::uint32_t mtu, std::uint32_t pieces) {
    Message message;
    message.opcode = kOpcodes[traffic.below(static_cast<std::uint32_t>(kOpcodes.size()))];
    const std::uint64_t area = index * kArea;
    if (is_atomic(message.opcode)) {
      message.bytes = 8;
      message.local = {{pair_.end(0).memory + area, 8, pair_.end(0).mr->lkey}};
      message.remote_offset = area + 8 * traffic.below(100);
      message.before = traffic.word();
      pair_.write(1, message.remote_offset, &message.before, 8);
      message.compare_add = traffic.below(2) == 0 ? message.before : traffic.word();
      message.swap = traffic.word();
      return message;
    }
    message.bytes = traffic.below(3 * mtu + 1);
    message.inline_data = message.opcode != rvt::IB_WR_RDMA_READ && traffic.below(4) == 0;
    if (message.inline_data) message.bytes = traffic.below(65);
    message.imm = static_cast<std::uint32_t>(traffic.word());
    message.local =
        traffic.cut(message.bytes, pieces, pair_.end(0).memory + area, pair_.end(0).mr->lkey);
    message.receive = traffic.cut(message.bytes, 1 + traffic.below(8), pair_.end(1).memory + area,
                                  pair_.end(1).mr->lkey);
    message.remote_offset = area + traffic.below(64);
    return message;
  }

  void post(const Message& message, std::uint64_t wr_id) {
    if (consumes_receive(message.opcode)) {
      rvt::ib_recv_wr receive;
      receive.wr_id = wr_id;
      receive.sg_list = message.receive.data();
      receive.num_sge = static_cast<int>(message.receive.size());
      const rvt::ib_recv_wr* bad = nullptr;
      ASSERT_EQ(rvt::ib_post_recv(pair_.end(1).qp, &receive, &bad), 0);
    }
    const std::uint64_t remote = pair_.end(1).memory + message.remote_offset;
    rvt::ib_rdma_wr rdma;
    rvt::ib_atomic_wr atomic;
    rvt::ib_send_wr& wr = is_atomic(message.opcode) ? atomic.wr : rdma.wr;
    wr.wr_id = wr_id;
    wr.opcode = message.opcode;
    wr.sg_list = message.local.data();
    wr.num_sge = static_cast<int>(message.local.size());
    wr.send_flags = rvt::IB_SEND_SIGNALED;
    if (message.inline_data) wr.send_flags |= rvt::IB_SEND_INLINE;
    wr.ex.imm_data = rvt::cpu_to_be32(message.imm);
    if (message.opcode == rvt::IB_WR_SEND_WITH_INV) wr.ex.invalidate_rkey = message.key;
    rdma.remote_addr = atomic.remote_addr = remote;
    rdma.rkey = atomic.rkey = message.key != 0 ? message.key : pair_.end(1).mr->rkey;
    atomic.compare_add = message.compare_add;
    atomic.swap = message.swap;
    const rvt::ib_send_wr* bad = nullptr;
    ASSERT_EQ(rvt::ib_post_send(pair_.end(0).qp, &wr, &bad), 0);
  }

  void check(const Message& message) {
    const std::vector<std::uint8_t> here = gather(pair_, 0, message.local);
    if (is_atomic(message.opcode)) {
      std::uint64_t returned = 0;
      std::memcpy(&returned, here.data(), 8);
      EXPECT_EQ(returned, message.before);
      std::uint64_t after = 0;
      pair_.read(1, message.remote_offset, &after, 8);
      const bool swapped = message.compare_add == message.before;
      EXPECT_EQ(after, message.opcode == rvt::IB_WR_ATOMIC_FETCH_AND_ADD
                           ? message.before + message.compare_add
                           : (swapped ? message.swap : message.before));
      return;
    }
    std::vector<std::uint8_t> there(message.bytes);
    if (is_send(message.opcode)) {
      there = gather(pair_, 1, message.receive);
    } else if (message.bytes != 0) {
      pair_.read(1, message.remote_offset, there.data(), message.bytes);
    }
    EXPECT_EQ(here, there) << "opcode " << int{message.opcode} << ", " << message.bytes << " bytes";
  }

  // Different bytes on both sides, so that what did not arrive shows.
  void fill(Traffic& traffic) {
    std::vector<std::uint64_t> words(kMessages * kArea / 8);
    for (std::size_t node = 0; node < 2; ++node) {
      for (std::uint64_t& word : words) word = traffic.word();
      pair_.write(node, 0, words.data(), words.size() * 8);
    }
  }

  void send_messages(std::uint32_t seeds, Coverage& coverage);

  explicit Integrity(const std::vector<std::string>& settings)
      : pair_(kMessages * kArea, 1, settings) {}

  support::ConnectedPair pair_;
  std::array<rvt::ib_mr*, kMessages> fast_{};
};

/// Adapters on whose caches nothing stays.
class IntegrityWithoutCaches : public Integrity {
 protected:
  IntegrityWithoutCaches() : Integrity(tiny()) {}
  static std::vector<std::string> tiny() {
    std::vector<std::string> settings;
    for (const char* cache : {"qpc", "cqc", "mpt", "mtt"}) {
      const std::string table = std::string("hca.") + cache + "_cache";
      settings.push_back(table + ".entries=1");
      settings.push_back(table + ".misses=1");
    }
    return settings;
  }
};

void Integrity::send_messages(std::uint32_t seeds, Coverage& coverage) {
  const std::uint64_t first = support::test_seed(1);
  for (std::uint32_t n = 0; n < seeds; ++n) {
    SCOPED_TRACE("seed " + std::to_string(first + n));
    Traffic traffic(first + n);
    support::PairOptions options;
    options.mtu = static_cast<rvt::ib_mtu>(1 + traffic.below(5));
    options.sq_psn = traffic.below(2) == 0 ? 0xfffff0 + traffic.below(16)
                                           : static_cast<std::uint32_t>(traffic.word() & 0xffffff);
    const auto mtu = static_cast<std::uint32_t>(rvt::ib_mtu_enum_to_int(options.mtu));
    pair_.connect(options);
    fill(traffic);
    std::vector<Message> messages;
    for (std::uint32_t i = 0; i < kMessages; ++i) {
      const std::uint32_t pieces = 1 + traffic.below(8);
      messages.push_back(draw(traffic, i, mtu, pieces));
      const int opcode = messages.back().opcode;
      const int sges = static_cast<int>(messages.back().local.size());
      ++coverage.opcode_and_mtu[{opcode, static_cast<int>(mtu)}];
      ++coverage.opcode_and_sges[{opcode, sges}];
      ++coverage.mtu_and_sges[{static_cast<int>(mtu), sges}];
    }
    register_areas(messages);
    std::size_t receives = 0;
    for (std::uint32_t i = 0; i < kMessages; ++i) {
      post(messages[i], i);
      receives += consumes_receive(messages[i].opcode) ? 1 : 0;
    }
    pair_.settle();
    const auto sent = pair_.poll(0);
    ASSERT_EQ(sent.size(), kMessages);
    for (std::uint32_t i = 0; i < kMessages; ++i) {
      EXPECT_EQ(sent[i].wr_id, i);
      EXPECT_EQ(sent[i].status, rvt::IB_WC_SUCCESS);
    }
    const auto received = pair_.poll(1);
    ASSERT_EQ(received.size(), receives);
    for (const rvt::ib_wc& wc : received) {
      const Message& message = messages[wc.wr_id];
      EXPECT_EQ(wc.byte_len, message.bytes);
      const bool immediate = has_immediate(message.opcode);
      EXPECT_EQ((wc.wc_flags & rvt::IB_WC_WITH_IMM) != 0, immediate);
      if (immediate) {
        EXPECT_EQ(rvt::be32_to_cpu(wc.ex.imm_data), message.imm);
      }
      const bool invalidated = message.opcode == rvt::IB_WR_SEND_WITH_INV;
      EXPECT_EQ((wc.wc_flags & rvt::IB_WC_WITH_INVALIDATE) != 0, invalidated);
      if (invalidated) {
        EXPECT_EQ(wc.ex.invalidate_rkey, message.key);
      }
    }
    for (const Message& message : messages) check(message);
    pair_.disconnect();
    if (HasFailure()) return;
  }
}

TEST_F(Integrity, EveryByteArrivesForEachOpcodeMtuAndSgeCount) {
  Coverage coverage;
  send_messages(kSeeds, coverage);
  if (HasFailure()) return;
  const auto& [opcode_and_mtu, opcode_and_sges, mtu_and_sges] = coverage;
  EXPECT_GT(pair_.rules().packets(), kSeeds * kMessages);
  // Atomics have one SGE; all else is drawn with each number of them.
  EXPECT_EQ(opcode_and_mtu.size(), kOpcodes.size() * 5);
  EXPECT_EQ(opcode_and_sges.size(), (kOpcodes.size() - 2) * 8 + 2);
  EXPECT_EQ(mtu_and_sges.size(), 5u * 8u);
  for (const auto& [what, count] : opcode_and_mtu) {
    std::cout << "opcode " << what.first << ", MTU " << what.second << ": " << count << '\n';
  }
  for (const auto& [what, count] : opcode_and_sges) {
    std::cout << "opcode " << what.first << ", SGEs " << what.second << ": " << count << '\n';
  }
  for (const auto& [what, count] : mtu_and_sges) {
    std::cout << "MTU " << what.first << ", SGEs " << what.second << ": " << count << '\n';
  }
}

// Contexts come and go between any two packets.
TEST_F(IntegrityWithoutCaches, EveryByteArrives) {
  Coverage coverage;
  send_messages(kSeeds / 4, coverage);
}

// The key that SEND_WITH_INV names opens the region before it, and no more after it.
TEST_F(Integrity, InvalidatedKeyIsRefused) {
  pair_.connect({});
  Traffic traffic(support::test_seed(1));
  fill(traffic);
  Message write;
  write.opcode = rvt::IB_WR_RDMA_WRITE;
  write.bytes = 4000;
  write.local = {{pair_.end(0).memory, write.bytes, pair_.end(0).mr->lkey}};
  Message send;
  send.opcode = rvt::IB_WR_SEND_WITH_INV;
  send.bytes = 16;
  send.local = {{pair_.end(0).memory + 8192, send.bytes, pair_.end(0).mr->lkey}};
  send.receive = {{pair_.end(1).memory + kArea, send.bytes, pair_.end(1).mr->lkey}};
  std::vector<Message> messages{send};
  register_areas(messages);
  write.key = messages[0].key;
  post(write, 1);
  post(messages[0], 2);
  pair_.settle();
  for (const rvt::ib_wc& wc : pair_.poll(0)) EXPECT_EQ(wc.status, rvt::IB_WC_SUCCESS);
  EXPECT_EQ(pair_.poll(1).size(), 1u);
  check(write);
  check(messages[0]);
  const std::vector<std::uint64_t> other(500, traffic.word());
  pair_.write(0, 0, other.data(), write.bytes);
  post(write, 3);
  pair_.settle();
  const auto refused = pair_.poll(0);
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].status, rvt::IB_WC_REM_ACCESS_ERR);
  EXPECT_NE(gather(pair_, 0, write.local), gather(pair_, 1, {{pair_.end(1).memory, 4000, 0}}));
  pair_.disconnect();
}

}  // namespace
}  // namespace hcasim
