// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Rows of messages that nobody acknowledges, while nodes are apart in time.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "folder.hpp"
#include "pair.hpp"

namespace hcasim::sim::test {
namespace {

std::string rows_of(const std::string& file) {
  const std::string text = text_of(file);
  return text.substr(text.find('\n') + 1);
}

// The receiver's node may report before or after the sender's has polled.
TEST(UnreliableRows, OfWritesDoNotDependOnWhoReportsFirst) {
  const Folder folder;
  for (const bool receiver_first : {true, false}) {
    Pair pair(folder / "c.csv", false);
    const std::uint64_t message = pair.post(WrOpcode::kRdmaWrite, 64, 100);
    const auto arrives = [&] {
      pair.b.stamp(message, Stamp::kFirstPacketIn, Pair::at(480));
      pair.b.stamp(message, Stamp::kDataVisible, Pair::at(490));
      pair.b.stamp(message, Stamp::kDataVisible, Pair::at(700));  // of a copy
    };
    if (receiver_first) arrives();
    pair.send_polled(0, 500);
    if (!receiver_first) arrives();
    pair.close(2'001'000);
    EXPECT_EQ(rows_of(folder / "c.csv"), "a,qa,0,RDMA_WRITE,64,SUCCESS,100,,,,,480,,490,,,,,500\n");
  }
}

TEST(UnreliableRows, ACopyDoesNotChangeWhatIsComplete) {
  const Folder folder;
  for (const bool receiver_first : {true, false}) {
    Pair pair(folder / "c.csv", false);
    const std::uint64_t message = pair.post(WrOpcode::kSend, 64, 100);
    const auto arrives = [&] {
      for (const Time at : {480, 780}) {
        pair.receive_posted(100);
        pair.received(message, at);
        pair.receive_polled(64, at + 50);
      }
    };
    if (receiver_first) arrives();
    pair.send_polled(0, 500);
    if (!receiver_first) arrives();
    const RunStatistics statistics = pair.close(2'001'000);
    EXPECT_EQ(rows_of(folder / "c.csv"),
              "a,qa,0,SEND,64,SUCCESS,100,,,,,480,490,500,510,530,,,500\n");
    EXPECT_EQ(statistics.latency.count, 1u);
    EXPECT_EQ(statistics.nodes[1].receives_completed, 2u);
  }
}

TEST(UnreliableRows, ALostMessageHasOneRowAndIsForgotten) {
  const Folder folder;
  for (const bool with_csv : {true, false}) {
    const std::string file = folder / "c.csv";
    Pair pair(with_csv ? file : std::string(), false);
    constexpr Time kApart = 100'000;  // as many as may still arrive: 100
    for (Time i = 0; i < 20'000; ++i) {
      pair.post(WrOpcode::kSend, 64, i * kApart);
      pair.send_polled(static_cast<std::uint64_t>(i), i * kApart + 500);
    }
    EXPECT_LE(pair.recorder.capacity(), 1024u);
    const RunStatistics statistics = pair.close(20'000 * kApart);
    EXPECT_EQ(statistics.messages_completed, 20'000u);
    if (!with_csv) continue;
    const std::string rows = rows_of(file);
    EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 20'000);
  }
}

TEST(UnreliableRows, ALateMessageIsLost) {
  Pair pair({}, false);
  const std::uint64_t message = pair.post(WrOpcode::kSend, 64, 100);
  pair.send_polled(0, 500);
  pair.receive_posted(100);
  pair.received(message, 11'000'000);
  pair.receive_polled(64, 11'000'100);
  const RunStatistics statistics = pair.close(12'000'000);
  EXPECT_EQ(statistics.latency.count, 0u);
  EXPECT_EQ(statistics.nodes[1].receives_completed, 1u);
}

}  // namespace
}  // namespace hcasim::sim::test
