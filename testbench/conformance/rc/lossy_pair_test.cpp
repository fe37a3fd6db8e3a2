// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Two adapters whose packets are lost, doubled and change places on the way: all work requests
// complete in the end, and both keep the rules of the transport all the while.
#include <array>
#include <random>

#include "connection.hpp"
#include "support/seed.hpp"

namespace hcasim::testing {
namespace {

constexpr Time kLatency = 500 * hw::kNanosecond;
constexpr Time kStep = 200 * hw::kNanosecond;

struct Faults {
  std::uint32_t lost = 0;     // of 1000 packets
  std::uint32_t doubled = 0;  // of 1000 packets
  std::uint32_t late = 0;     // of 1000 packets
  Time lateness = 2 * hw::kMicrosecond;
};

class LossyPair {
 public:
  LossyPair(const Faults& faults, std::uint64_t seed)
      : faults_(faults),
        random_(seed),
        ends_{Connection(context(100, 500), options()), Connection(context(500, 100), options())} {}

  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
  Connection& end(std::size_t i) { return ends_[i]; }

  /// One work request of any kind, of up to eight packets. The receive that it needs is posted and
  /// not rung.
  void post(std::size_t i) {
    constexpr std::array kKinds{hw::WrOpcode::kSend,           hw::WrOpcode::kSendWithImm,
                                hw::WrOpcode::kRdmaWrite,      hw::WrOpcode::kRdmaWriteWithImm,
                                hw::WrOpcode::kRdmaRead,       hw::WrOpcode::kAtomicFetchAndAdd,
                                hw::WrOpcode::kAtomicCmpAndSwp};
    const std::uint32_t kind = below(kKinds.size());
    SendWr wr = ends_[i].gather_wr(kKinds[kind], kind >= 5 ? 8 : below(8 * 256 + 1));
    Connection& peer = ends_[1 - i];
    wr.remote_addr = peer.area + 8 * below(64);
    wr.rkey = peer.key;
    if (below(4) == 0) wr.flags |= hw::kWqeFence;
    ends_[i].bench.post_send(ends_[i].qp, wr);
    if (kind >= 4 || kind == 2) return;
    peer.bench.post_recv(peer.qp, 0, {{peer.area + 8192, 2048, peer.key}});
  }

  /// Runs both until `done` holds. False when that takes too long.
  template <typename Done>
  bool run_until(Done done) {
    const Time limit = ends_[0].bench.now() + hw::kSecond;
    Time time = std::max(ends_[0].bench.now(), ends_[1].bench.now());
    while (!done()) {
      time += kStep;
      if (time > limit) return false;
      for (Connection& c : ends_) c.bench.run_to(time);
      for (std::size_t i = 0; i < 2; ++i) carry(ends_[i].sent(), ends_[1 - i]);
    }
    return true;
  }

 private:
  static hw::QpContext context(std::uint32_t sq_psn, std::uint32_t rq_psn) {
    hw::QpContext context = AdapterBench::rc_context();
    context.remote_qpn = 0x10;  // the first of a bench
    context.sq_psn = sq_psn;
    context.rq_psn = rq_psn;
    context.timeout = 7;        // 524 us
    context.min_rnr_timer = 6;  // 80 us
    return context;
  }
  static BenchOptions options() {
    BenchOptions options;
    options.byte_time = 80;  // 100 Gb/s
    options.port_lead = hw::kMicrosecond;
    return options;
  }
  bool happens(std::uint32_t of_thousand) { return below(1000) < of_thousand; }

  void carry(const std::vector<SentPacket>& packets, Connection& to) {
    for (const SentPacket& packet : packets) {
      if (happens(faults_.lost)) continue;
      Time arrival = packet.first_bit + kLatency;
      if (happens(faults_.late)) arrival += below(static_cast<std::uint32_t>(faults_.lateness));
      to.bench.arrive_at(arrival, to.qp, {packet.headers, packet.payload});
      if (!happens(faults_.doubled)) continue;
      arrival += below(static_cast<std::uint32_t>(faults_.lateness));
      to.bench.arrive_at(arrival, to.qp, {packet.headers, packet.payload});
    }
  }

  Faults faults_;
  std::mt19937_64 random_;
  std::array<Connection, 2> ends_;
};

void run(const Faults& faults, std::uint32_t seeds) {
  for (std::uint32_t n = 0; n < seeds; ++n) {
    const std::uint64_t seed = support::test_seed(1) + n;
    SCOPED_TRACE("seed " + std::to_string(seed));
    LossyPair pair(faults, seed);
    for (std::uint32_t round = 0; round < 20; ++round) {
      const std::uint32_t count = 1 + pair.below(12);
      std::array<std::size_t, 2> completed{};
      for (std::size_t i = 0; i < 2; ++i) {
        for (std::uint32_t k = 0; k < count; ++k) pair.post(i);
        pair.end(i).bench.ring_send(pair.end(i).qp);
      }
      const Time receives_at = pair.end(0).bench.now() + pair.below(100) * hw::kMicrosecond;
      bool receives = false;
      const bool done = pair.run_until([&] {
        for (std::size_t i = 0; i < 2; ++i) {
          Connection& c = pair.end(i);
          if (!receives && c.bench.now() >= receives_at) c.bench.ring_recv(c.qp);
          for (const hw::Cqe& cqe : c.sends()) {
            EXPECT_EQ(cqe.status, hw::WcStatus::kSuccess);
            ++completed[i];
          }
          c.receives();
        }
        receives = receives || pair.end(0).bench.now() >= receives_at;
        return (completed[0] == count && completed[1] == count) || ::testing::Test::HasFailure();
      });
      EXPECT_TRUE(done) << completed[0] << " and " << completed[1] << " of " << count;
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(LossyPair, NoFaults) {
  run({}, 2);
}
TEST(LossyPair, Loss) {
  run({.lost = 20}, 5);
}
TEST(LossyPair, Duplication) {
  run({.doubled = 100}, 5);
}
TEST(LossyPair, Reordering) {
  run({.late = 50}, 5);
}
TEST(LossyPair, AllFaults) {
  run({.lost = 10, .doubled = 30, .late = 20}, 10);
}

}  // namespace
}  // namespace hcasim::testing
