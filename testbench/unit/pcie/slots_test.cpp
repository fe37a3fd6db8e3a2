// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "pcie/slots.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace hcasim::pcie {
namespace {

TEST(Slots, GiveNoNumberTwiceAndUseThoseGivenBackAgain) {
  Slots<int> slots;
  std::map<std::uint32_t, int> taken;
  std::size_t most = 0;
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    if (taken.empty() || random() % 100 < 50) {
      const std::uint32_t index = slots.take();
      ASSERT_FALSE(taken.contains(index));
      slots[index] = taken[index] = i;
      most = std::max(most, taken.size());
      ASSERT_LT(index, most);
    } else {
      const auto some = std::next(taken.begin(), static_cast<long>(random() % taken.size()));
      ASSERT_EQ(slots[some->first], some->second);
      slots.give_back(some->first);
      taken.erase(some);
    }
  }
}

}  // namespace
}  // namespace hcasim::pcie
