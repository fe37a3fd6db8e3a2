// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "star.hpp"
#include "support/allocation_counter.hpp"

namespace hcasim::fabric::test {
namespace {

constexpr Time kMacsAndCable = (2 * 150 + 10) * hw::kNanosecond;
constexpr Time kSwitch = 300 * hw::kNanosecond;

TEST(Switch, ForwardsByAddress) {
  Star star(4);
  for (std::uint32_t to = 0; to < 4; ++to) {
    for (std::uint32_t from = 0; from < 4; ++from) star.send(from, to, 10 * from + to);
  }
  star.run();
  for (std::uint32_t to = 0; to < 4; ++to) {
    ASSERT_EQ(star.nodes[to].arrived.size(), 4u);
    for (const Node::Seen& seen : star.nodes[to].arrived) EXPECT_EQ(seen.psn % 10, to);
    EXPECT_EQ(star.core->counters(to).rx_packets_phy, 4u);
    EXPECT_EQ(star.core->counters(to).tx_packets_phy, 4u);
    EXPECT_EQ(star.core->counters(to).tx_bytes_phy, 4 * kilobyte_bytes());
  }
}

// To each output but that to its sender, in its turn there; a full one drops its copy alone.
TEST(Switch, FloodsWhatIsForMany) {
  for (const hw::MacAddress& many :
       {hw::MacAddress{0x33, 0x33, 0, 0, 0, 1}, hw::MacAddress{0x01, 0x00, 0x5e, 0, 0, 1}}) {
    Star star(4);
    PacketPtr packet = star.nodes[1].pool.acquire();
    packet->psn = 7;
    packet->address.dst_mac = many;
    packet->resize_payload(100);
    star.nodes[1].port.send(std::move(packet));
    star.send(1, 2, 8);
    star.run();
    EXPECT_EQ(star.nodes[0].arrived.size(), 1u);
    EXPECT_EQ(star.nodes[1].arrived.size(), 0u);
    EXPECT_EQ(star.nodes[3].arrived.size(), 1u);
    ASSERT_EQ(star.nodes[2].arrived.size(), 2u);
    EXPECT_EQ(star.nodes[2].arrived[0].psn, 7u);
    EXPECT_EQ(star.nodes[2].arrived[1].psn, 8u);
    EXPECT_EQ(star.core->counters(1).rx_packets_phy, 2u);
    EXPECT_EQ(star.core->counters(1).discard_ingress_general, 0u);
  }
}

TEST(Switch, DropsWhatIsForNobody) {
  Star star(2);
  star.send(0, 7, 1);
  star.run();
  EXPECT_TRUE(star.nodes[0].arrived.empty());
  EXPECT_TRUE(star.nodes[1].arrived.empty());
  EXPECT_EQ(star.core->counters(0).discard_ingress_general, 1u);
  EXPECT_EQ(star.core->counters(1).tx_packets_phy, 0u);
}

TEST(Switch, LatencyIsTheSumOfItsStages) {
  Star star(2);
  star.send(0, 1, 1);
  star.run();
  const Time sum = kilobyte_time()    // on the link to the switch
                   + kMacsAndCable    // of that link
                   + kSwitch          // look-up, to the queue of the output
                   + kilobyte_time()  // on the link from the switch
                   + kMacsAndCable;   // of that link
  EXPECT_EQ(star.nodes[1].arrived, (std::vector<Node::Seen>{{1, sum, 0}}));
}

// The output is never idle from the first packet on: both senders together get what one would.
TEST(Switch, TwoSendersShareAnOutput) {
  constexpr std::uint32_t kPackets = 100;
  Star star(3);
  for (std::uint32_t i = 0; i < kPackets; ++i) {
    star.send(0, 2, i);
    star.send(1, 2, 1000 + i);
  }
  star.run();
  const auto& arrived = star.nodes[2].arrived;
  ASSERT_EQ(arrived.size(), 2 * kPackets);
  const Time first = 2 * kilobyte_time() + 2 * kMacsAndCable + kSwitch;
  for (std::uint32_t i = 0; i < arrived.size(); ++i) {
    EXPECT_EQ(arrived[i].at, first + i * kilobyte_time());
    EXPECT_EQ(arrived[i].psn, (i % 2) * 1000 + i / 2) << "inputs take turns";
  }
}

// In each packet time two come and one leaves, which makes room first: with room for n packets the
// first to be dropped is the second of time n, and so is every second one from then on.
TEST(Switch, DropsWhatDoesNotFitAndNothingElse) {
  constexpr std::uint32_t kPackets = 10;
  for (const std::uint32_t room : {3u, 4u, 7u}) {
    for (const std::uint32_t missing : {0u, 1u}) {
      Parameters parameters;
      parameters.at_switch.buffer_bytes = room * kilobyte_bytes() - missing;
      Star star(3, parameters);
      for (std::uint32_t i = 0; i < kPackets; ++i) {
        star.send(0, 2, i);
        star.send(1, 2, 1000 + i);
      }
      star.run();
      const std::uint32_t fits = room - missing;
      EXPECT_EQ(star.drops(), kPackets - (fits - 1));
      EXPECT_EQ(star.core->counters(2).tx_discards_phy, star.drops());
      const auto& arrived = star.nodes[2].arrived;
      EXPECT_EQ(arrived.size(), 2 * kPackets - star.drops());
      const auto of_second = std::count_if(arrived.begin(), arrived.end(),
                                           [](const auto& seen) { return seen.psn >= 1000; });
      EXPECT_EQ(of_second, fits - 1);
    }
  }
}

TEST(Switch, AllocatesNothingOnceItHasSeenItsPeak) {
  Star star(3);
  const auto burst = [&](Time at) {
    for (Node& node : star.nodes) node.clock.advance_to(at);
    for (std::uint32_t i = 0; i < 200; ++i) {
      star.send(0, 2, i);
      star.send(1, 2, i);
    }
    star.run();
  };
  burst(hw::kMillisecond);
  burst(2 * hw::kMillisecond);
  const hcasim::testing::AllocationCounter counter;
  burst(3 * hw::kMillisecond);
  EXPECT_EQ(star.nodes[2].arrived.size(), 1200u);
  EXPECT_EQ(counter.count(), 0u);
}

}  // namespace
}  // namespace hcasim::fabric::test
