// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "fabric/packet_pool.hpp"

namespace hcasim::fabric {
namespace {

TEST(PacketPool, GivesTheSamePacketsAgain) {
  PacketPool pool;
  for (int round = 0; round < 1000; ++round) {
    std::vector<PacketPtr> held;
    for (int i = 0; i < 10; ++i) held.push_back(pool.acquire());
    EXPECT_EQ(pool.in_use(), 10u);
  }
  EXPECT_EQ(pool.in_use(), 0u);
  EXPECT_LE(pool.capacity(), 32u);
}

TEST(PacketPool, GrowsAsNeeded) {
  PacketPool pool;
  std::vector<PacketPtr> held;
  for (int i = 0; i < 100; ++i) held.push_back(pool.acquire());
  EXPECT_GE(pool.capacity(), 100u);
}

TEST(PacketPool, GivesACleanPacket) {
  PacketPool pool;
  {
    PacketPtr packet = pool.acquire();
    packet->psn = 5;
    packet->resize_payload(100);
  }
  PacketPtr again = pool.acquire();
  EXPECT_EQ(again->psn, 0u);
  EXPECT_EQ(again->payload_size(), 0u);
}

TEST(PacketPool, MayGoBeforeItsPackets) {
  std::optional<PacketPool> pool(std::in_place);
  PacketPtr first = pool->acquire();
  PacketPtr second = pool->acquire();
  pool.reset();
  first.reset();
  second->psn = 3;
  EXPECT_EQ(second->psn, 3u);
}

TEST(PacketPtr, MovesOwnership) {
  PacketPool pool;
  PacketPtr one = pool.acquire();
  PacketPtr two = std::move(one);
  EXPECT_EQ(pool.in_use(), 1u);
  two = pool.acquire();
  EXPECT_EQ(pool.in_use(), 1u);
  PacketPtr three = PacketPtr::adopt(two.release());
  EXPECT_FALSE(two);
  EXPECT_EQ(pool.in_use(), 1u);
}

TEST(PacketPool, ClonesHeadersAndPayload) {
  PacketPool pool;
  PacketPtr original = pool.acquire();
  original->psn = 77;
  std::ranges::fill(original->resize_payload(9), std::uint8_t{4});
  PacketPtr copy = pool.clone(*original);
  EXPECT_EQ(static_cast<const PacketHeaders&>(*copy), *original);
  EXPECT_TRUE(std::ranges::equal(copy->payload(), original->payload()));
}

}  // namespace
}  // namespace hcasim::fabric
