// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Rows of messages that did not get through, while nodes are apart in time.
#include <gtest/gtest.h>

#include "folder.hpp"
#include "pair.hpp"

namespace hcasim::sim::test {
namespace {

// The receiver's node may report before or after the sender's: what it says of times up to the
// failure counts, what it says of later ones does not.
TEST(FailureRows, DoNotDependOnWhoReportsFirst) {
  const Folder folder;
  for (const bool receiver_first : {true, false}) {
    Pair pair(folder / "c.csv");
    const std::uint64_t message = pair.post(WrOpcode::kSend, 64, 100);
    if (receiver_first) pair.received(message, 480);
    pair.send_polled(0, 500, WcStatus::kRetryExcErr);
    if (!receiver_first) pair.received(message, 480);
    pair.receive_polled(64, 600);
    pair.post(WrOpcode::kSend, 8, 2'000'000);
    pair.send_polled(1, 2'000'100);
    pair.close(2'001'000);
    const std::string text = text_of(folder / "c.csv");
    EXPECT_EQ(text.substr(text.find('\n') + 1),
              "a,qa,0,SEND,64,RETRY_EXC_ERR,100,,,,,480,490,500,,,,,500\n"
              "a,qa,1,SEND,8,SUCCESS,2000000,,,,,,,,,,,,2000100\n");
  }
}

}  // namespace
}  // namespace hcasim::sim::test
