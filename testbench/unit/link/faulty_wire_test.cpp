// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Each fault of a link strikes as often as it is told to, where its seed says, and does what it
// says to the packets; its counter tells of it.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "fabric/faulty_wire.hpp"

namespace hcasim::fabric {
namespace {

constexpr std::uint32_t kPackets = 2000;
constexpr std::size_t kBytes = 100;
constexpr Time kBegin = hw::kMicrosecond;

struct Seen {
  std::uint32_t psn;
  Time at;
  bool operator==(const Seen&) const = default;
};

class Sink final : public PacketSink {
 public:
  explicit Sink(const sim::Engine& engine) : engine_(engine) {}
  void on_packet(PacketPtr packet) override {
    EXPECT_EQ(packet->payload_size(), kBytes);
    for (const std::uint8_t byte : packet->payload()) EXPECT_EQ(byte, packet->psn & 0xff);
    EXPECT_EQ(packet->message, packet->psn + 1);
    seen.push_back({packet->psn, engine_.now()});
  }
  std::vector<Seen> seen;

 private:
  const sim::Engine& engine_;
};

/// A port that sends one packet after the other over a faulty wire.
struct FaultyLink {
  explicit FaultyLink(const Parameters::Faults& faults, std::uint64_t seed = 1)
      : wire(from, faults, seed) {
    from.set_wire(wire);
    wire.set_wire(to);
    to.set_sink(sink);
    wire.begin(kBegin);
  }
  void run(std::uint32_t packets = kPackets) {
    for (std::uint32_t psn = 0; psn < packets; ++psn) {
      PacketPtr packet = pool.acquire();
      packet->psn = psn;
      packet->message = psn + 1;
      for (std::uint8_t& byte : packet->resize_payload(kBytes)) {
        byte = static_cast<std::uint8_t>(psn);
      }
      on_wire = static_cast<Time>(packet->wire_bytes()) * 80;  // 100 Gb/s
      from.send(std::move(packet));
    }
    b.run_before(hw::kNever);
  }
  Time arrival_of(std::uint32_t psn) const { return (psn + 1) * on_wire + from.latency(); }
  std::map<std::uint32_t, int> times_seen() const {
    std::map<std::uint32_t, int> count;
    for (const Seen& seen : sink.seen) ++count[seen.psn];
    return count;
  }

  sim::Engine a{"a"};
  sim::Engine b{"b"};
  PacketPool pool;
  EthernetPort from{a, "port", {}};
  EthernetPort to{b, "port", {}};
  Sink sink{b};
  FaultyWire wire;
  Time on_wire = 0;
};

void expect_about(std::uint64_t count, double probability) {
  const double expected = probability * kPackets;
  EXPECT_GT(static_cast<double>(count), expected * 0.7);
  EXPECT_LT(static_cast<double>(count), expected * 1.3);
}

TEST(FaultyWire, LosesPackets) {
  FaultyLink link({.loss = 0.1});
  link.run();
  expect_about(link.wire.counters().lost, 0.1);
  EXPECT_EQ(link.sink.seen.size(), kPackets - link.wire.counters().lost);
  for (const Seen& seen : link.sink.seen) EXPECT_EQ(seen.at, link.arrival_of(seen.psn));
  EXPECT_EQ(link.pool.in_use(), 0u);
}

TEST(FaultyWire, DoublesPackets) {
  FaultyLink link({.duplication = 0.1, .duplication_delay_ns = 50});
  link.run();
  expect_about(link.wire.counters().duplicated, 0.1);
  EXPECT_EQ(link.sink.seen.size(), kPackets + link.wire.counters().duplicated);
  for (const Seen& seen : link.sink.seen) {
    const Time late = seen.at - link.arrival_of(seen.psn);
    EXPECT_TRUE(late == 0 || late == 50 * hw::kNanosecond) << late;
  }
}

TEST(FaultyWire, HoldsPacketsBack) {
  FaultyLink link({.reordering = 0.1, .reordering_delay_ns = 300});
  link.run();
  std::uint64_t late = 0;
  std::uint64_t passed = 0;
  std::uint32_t highest = 0;
  for (const Seen& seen : link.sink.seen) {
    late += seen.at == link.arrival_of(seen.psn) + 300 * hw::kNanosecond ? 1 : 0;
    passed += seen.psn < highest ? 1 : 0;
    highest = std::max(highest, seen.psn);
  }
  EXPECT_EQ(link.sink.seen.size(), kPackets);
  expect_about(link.wire.counters().reordered, 0.1);
  EXPECT_EQ(late, link.wire.counters().reordered);
  EXPECT_GT(passed, 0u);
}

TEST(FaultyWire, TheReceiverFindsFlippedBitsByTheIcrc) {
  FaultyLink link({.corruption = 0.5});
  link.run();
  expect_about(link.wire.counters().corrupted, 0.5);
  const std::uint64_t dropped = link.to.counters().rx_icrc_encapsulated;
  EXPECT_EQ(link.to.counters().packets_in, kPackets - dropped);
  // The ICRC leaves out one byte of the BTH: what flips there alone arrives.
  EXPECT_LE(dropped, link.wire.counters().corrupted);
  EXPECT_GT(dropped, link.wire.counters().corrupted * 95 / 100);
}

TEST(FaultyWire, WhatLeavesWhileTheLinkIsDownIsLostAndNoMore) {
  FaultyLink link({.down_at_ns = 1000, .down_for_ns = 3000});
  link.run();
  const Time down = kBegin + 1000 * hw::kNanosecond;
  const Time up = down + 3000 * hw::kNanosecond;
  const auto seen = link.times_seen();
  std::uint64_t lost = 0;
  for (std::uint32_t psn = 0; psn < kPackets; ++psn) {
    const Time start = psn * link.on_wire;
    const bool meets = start + link.on_wire > down && start < up;
    EXPECT_EQ(seen.contains(psn), !meets) << psn;
    lost += meets ? 1 : 0;
  }
  EXPECT_EQ(link.wire.counters().lost_link_down, lost);
  EXPECT_GT(lost, 100u);
}

// Down from the start of one packet to the start of another: neither the packet before nor the one
// behind is lost, but with a nanosecond more.
TEST(FaultyWire, ALinkIsCutBetweenTwoPackets) {
  constexpr std::uint32_t kFirst = 100;
  constexpr std::uint32_t kBehind = 125;
  const auto arrivals = [](std::uint32_t earlier, std::uint32_t longer) {
    FaultyLink sound({});
    sound.run(1);
    const auto begin = [&](std::uint32_t psn) {
      EXPECT_EQ(psn * sound.on_wire % hw::kNanosecond, 0);
      return static_cast<std::uint32_t>((psn * sound.on_wire - kBegin) / hw::kNanosecond);
    };
    FaultyLink link({.down_at_ns = begin(kFirst) - earlier,
                     .down_for_ns = begin(kBehind) - begin(kFirst) + earlier + longer});
    link.run(200);
    for (std::uint32_t psn = kFirst; psn < kBehind; ++psn) {
      EXPECT_FALSE(link.times_seen().contains(psn)) << psn;
    }
    return link.times_seen();
  };
  EXPECT_TRUE(arrivals(0, 0).contains(kFirst - 1));
  EXPECT_TRUE(arrivals(0, 0).contains(kBehind));
  EXPECT_FALSE(arrivals(1, 0).contains(kFirst - 1));
  EXPECT_FALSE(arrivals(0, 1).contains(kBehind));
}

TEST(FaultyWire, IsSoundBeforeItsTime) {
  FaultyLink link({.loss = 1});
  link.wire.begin(hw::kNever);
  link.run(100);
  EXPECT_EQ(link.sink.seen.size(), 100u);
}

TEST(FaultyWire, StrikesWhereTheSeedSaysWhateverElseHappens) {
  const auto lost = [](Parameters::Faults faults, std::uint64_t seed) {
    FaultyLink link(faults, seed);
    link.run();
    std::vector<std::uint32_t> psns;
    const auto seen = link.times_seen();
    for (std::uint32_t psn = 0; psn < kPackets; ++psn) {
      if (!seen.contains(psn)) psns.push_back(psn);
    }
    return psns;
  };
  const auto usual = lost({.loss = 0.1}, 7);
  EXPECT_EQ(lost({.loss = 0.1}, 7), usual);
  EXPECT_EQ(lost({.loss = 0.1, .duplication = 0.2, .reordering = 0.3}, 7), usual);
  EXPECT_NE(lost({.loss = 0.1}, 8), usual);
}

}  // namespace
}  // namespace hcasim::fabric
