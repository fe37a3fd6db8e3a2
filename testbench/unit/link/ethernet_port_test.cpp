// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "fabric/link.hpp"
#include "fabric/packet_pool.hpp"
#include "support/allocation_counter.hpp"

namespace hcasim::fabric {
namespace {

constexpr Time kFlight = (2 * 150 + 10) * hw::kNanosecond;

class Sink : public PacketSink {
 public:
  explicit Sink(const sim::Engine& engine) : engine_(engine) { arrivals.reserve(100'000); }
  virtual ~Sink() = default;
  void on_packet(PacketPtr packet) override { arrivals.push_back({packet->psn, engine_.now()}); }
  std::vector<std::pair<std::uint32_t, Time>> arrivals;

 private:
  const sim::Engine& engine_;
};

struct EthernetPortTest : ::testing::Test {
  explicit EthernetPortTest(double gbps = 100) : parameters{gbps, 150, 10} {
    connect(port_a, port_b);
    port_a.set_sink(sink_a);
    port_b.set_sink(sink_b);
  }
  PacketPtr packet(std::uint32_t psn, std::size_t payload) {
    PacketPtr p = pool.acquire();
    p->psn = psn;
    p->resize_payload(payload);
    return p;
  }

  Parameters parameters;
  sim::Engine a{"a"};
  sim::Engine b{"b"};
  Sink sink_a{a};
  Sink sink_b{b};
  EthernetPort port_a{a, "port", parameters};
  EthernetPort port_b{b, "port", parameters};
  PacketPool pool;
};

TEST_F(EthernetPortTest, ArrivesAfterItsBytesBothMacsAndTheCable) {
  PacketPtr p = packet(1, 1024);
  const auto bytes = static_cast<Time>(p->wire_bytes());
  EXPECT_EQ(port_a.send(std::move(p)), 0);
  EXPECT_EQ(port_a.free_at(), bytes * 80);
  const Time arrival = bytes * 80 + kFlight;
  b.run_before(arrival);
  EXPECT_TRUE(sink_b.arrivals.empty());
  b.run_before(arrival + 1);
  EXPECT_EQ(sink_b.arrivals, (std::vector<std::pair<std::uint32_t, Time>>{{1, arrival}}));
  EXPECT_TRUE(sink_a.arrivals.empty());
}

TEST_F(EthernetPortTest, PacketsGoOutOneAfterTheOther) {
  PacketPtr first = packet(1, 4096);
  PacketPtr second = packet(2, 64);
  const auto bytes = static_cast<Time>(first->wire_bytes());
  const auto more = static_cast<Time>(second->wire_bytes());
  port_a.send(std::move(first));
  EXPECT_EQ(port_a.send(std::move(second)), bytes * 80);
  b.run_before(hw::kNever);
  EXPECT_EQ(sink_b.arrivals.at(1).second, (bytes + more) * 80 + kFlight);
  EXPECT_EQ(port_b.counters().packets_in, 2u);
}

TEST_F(EthernetPortTest, TellsItsObserverOfBothWays) {
  struct Observer : PacketObserver {
    using Seen = std::vector<std::pair<std::uint32_t, Time>>;
    void on_sent(const Packet& packet, Time start) override { sent.push_back({packet.psn, start}); }
    void on_arrived(const Packet& packet, Time end) override { in.push_back({packet.psn, end}); }
    Seen sent;
    Seen in;
  } observer_a, observer_b;
  port_a.set_observer(&observer_a, true);
  port_b.set_observer(&observer_b, true);
  PacketPtr p = packet(1, 1024);
  const Time arrival = static_cast<Time>(p->wire_bytes()) * 80 + kFlight;
  port_a.send(std::move(p));
  EXPECT_EQ(observer_a.sent, (Observer::Seen{{1, 0}}));
  b.run_before(hw::kNever);
  EXPECT_EQ(observer_b.in, (Observer::Seen{{1, arrival}}));
  EXPECT_TRUE(observer_a.in.empty());
  EXPECT_TRUE(observer_b.sent.empty());
}

TEST_F(EthernetPortTest, BothDirectionsAreIndependent) {
  port_a.send(packet(1, 1024));
  EXPECT_EQ(port_b.send(packet(2, 1024)), 0);
  a.run_before(hw::kNever);
  b.run_before(hw::kNever);
  EXPECT_EQ(sink_a.arrivals.at(0).second, sink_b.arrivals.at(0).second);
}

// The published figures: 64-byte payloads at 85.62 M/s, 4 KiB at 2.99 M/s.
TEST_F(EthernetPortTest, RateOfRoceOnHundredGigabit) {
  for (const auto& [payload, rate] : {std::pair{64, 85.62e6}, {4096, 2.99e6}}) {
    const Time before = port_a.free_at();
    for (int i = 0; i < 1000; ++i) {
      PacketPtr p = packet(0, static_cast<std::size_t>(payload));
      p->address.dst_gid = hw::Gid{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};
      ASSERT_TRUE(p->address.is_ipv4());
      port_a.send(std::move(p));
    }
    const double seconds = static_cast<double>(port_a.free_at() - before) * 1e-12;
    EXPECT_NEAR(1000 / seconds, rate, rate * 0.001);
  }
  b.run_before(hw::kNever);
}

TEST_F(EthernetPortTest, OvertakingPacketsOfAForeignModuleArriveByTime) {
  port_b.carry(packet(1, 64), 2000);
  port_b.carry(packet(2, 64), 1000);
  port_b.carry(packet(3, 64), 2000);
  b.run_before(hw::kNever);
  EXPECT_EQ(sink_b.arrivals,
            (std::vector<std::pair<std::uint32_t, Time>>{{2, 1000}, {1, 2000}, {3, 2000}}));
}

TEST_F(EthernetPortTest, SinkMayTakeAPacketOffTheWire) {
  struct Ahead : PacketSink {
    void on_packet(PacketPtr packet) override { arrived.push_back(packet->psn); }
    void on_wire(PacketPtr& packet, Time arrival) override {
      told.push_back({packet->psn, arrival});
      if (packet->psn == 2) packet.reset();
    }
    std::vector<std::pair<std::uint32_t, Time>> told;
    std::vector<std::uint32_t> arrived;
  } ahead;
  port_b.set_sink(ahead);
  for (std::uint32_t psn = 1; psn <= 3; ++psn) port_b.carry(packet(psn, 64), psn * 1000);
  EXPECT_EQ(ahead.told,
            (std::vector<std::pair<std::uint32_t, Time>>{{1, 1000}, {2, 2000}, {3, 3000}}));
  b.run_before(hw::kNever);
  EXPECT_EQ(ahead.arrived, (std::vector<std::uint32_t>{1, 3}));
  EXPECT_EQ(b.events_run(), 2u);
  EXPECT_EQ(port_b.counters().packets_in, 3u);
}

TEST_F(EthernetPortTest, LookaheadIsTheLeastTimeToTheOtherNode) {
  EXPECT_EQ(port_a.lookahead(), kFlight + 84 * 80);
  sim::Coupling coupling;
  coupling.add(a);
  coupling.add(b);
  couple(coupling, 0, port_a, 1, port_b);
  port_b.carry(packet(1, 64), 5000);  // b's next event
  EXPECT_EQ(coupling.horizon(0), 5000 + port_a.lookahead());
}

TEST_F(EthernetPortTest, ObserverSeesPacketsAsTheyLeave) {
  struct Observer : PacketObserver {
    void on_sent(const Packet& packet, Time start) override { seen.push_back({packet.psn, start}); }
    std::vector<std::pair<std::uint32_t, Time>> seen;
  } observer;
  port_a.set_observer(&observer);
  port_a.send(packet(1, 1));
  port_a.send(packet(2, 1));
  EXPECT_EQ(observer.seen.at(0).second, 0);
  EXPECT_EQ(observer.seen.at(1).first, 2u);
  EXPECT_GT(observer.seen.at(1).second, 0);
}

struct SlowLink : EthernetPortTest {
  SlowLink() : EthernetPortTest(56) {}
};

TEST_F(SlowLink, OddRatesDoNotDrift) {
  const auto bytes = static_cast<Time>(packet(0, 333)->wire_bytes());
  for (int i = 0; i < 7000; ++i) port_a.send(packet(0, 333));
  EXPECT_EQ(port_a.free_at(), bytes * 7000 / 7 * 1000);
  b.run_before(hw::kNever);
}

TEST_F(EthernetPortTest, NoAllocationOnceWarm) {
  const auto burst = [this] {
    for (std::uint32_t i = 0; i < 500; ++i) port_a.send(packet(i, 64));
    b.run_before(hw::kNever);
  };
  burst();
  const hcasim::testing::AllocationCounter counter;
  burst();
  EXPECT_EQ(counter.count(), 0u);
}

}  // namespace
}  // namespace hcasim::fabric
