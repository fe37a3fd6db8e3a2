// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "star.hpp"

namespace hcasim::fabric::test {
namespace {

constexpr std::uint32_t kPackets = 400;

// 400 KiB from each of two senders at once into a buffer of 128 KiB.
std::unique_ptr<Star> incast(bool pfc, std::uint32_t pause_quanta = 65'535) {
  Parameters parameters;
  parameters.at_switch.buffer_bytes = 128 * 1024;
  parameters.at_switch.pfc = pfc;
  parameters.at_switch.pause_quanta = pause_quanta;
  auto star = std::make_unique<Star>(3, parameters);
  for (std::uint32_t i = 0; i < kPackets; ++i) {
    star->send(0, 2, i);
    star->send(1, 2, i);
  }
  star->run();
  return star;
}

TEST(Pfc, LosesNothingWhereTailDropWould) {
  EXPECT_GT(incast(false)->drops(), 0u);
  const auto star = incast(true);
  EXPECT_EQ(star->drops(), 0u);
  EXPECT_EQ(star->nodes[2].arrived.size(), 2 * kPackets);
  for (const std::size_t sender : {0, 1}) {
    EXPECT_GT(star->core->pause_control(sender).frames_sent(), 1u);
    EXPECT_EQ(star->core->pause_control(sender).frames_sent(),
              star->nodes[sender].pausable->frames_in());
    EXPECT_EQ(star->core->pause_control(sender).held(), 0u);
  }
  EXPECT_EQ(star->core->pause_control(2).frames_sent(), 0u);
}

TEST(Pfc, KeepsTheOutputBusy) {
  const auto star = incast(true);
  const auto& arrived = star->nodes[2].arrived;
  EXPECT_EQ(arrived.back().at - arrived.front().at, (2 * kPackets - 1) * kilobyte_time());
}

// A pause of 64 quanta is over after the time of 4 KiB, well before the queue has drained.
TEST(Pfc, RenewsAPauseBeforeItEnds) {
  const auto star = incast(true, 64);
  EXPECT_EQ(star->drops(), 0u);
  EXPECT_GT(star->core->pause_control(0).frames_sent(),
            incast(true)->core->pause_control(0).frames_sent());
}

TEST(PausablePort, StartsNothingWhilePaused) {
  Parameters parameters;
  parameters.at_switch.pfc = true;
  Star star(2, parameters);
  const Time t = kilobyte_time();
  for (std::uint32_t i = 0; i < 6; ++i) star.send(0, 1, i);
  // Comes while the third is on its way, which is not cut short.
  star.nodes[0].port.carry_pause(10 * t, 2 * t + 1);
  star.run();
  std::vector<Time> starts;
  for (const auto& sent : star.nodes[0].sent) starts.push_back(sent.at);
  const Time resumed = 12 * t + 1;
  EXPECT_EQ(starts, (std::vector<Time>{0, t, 2 * t, resumed, resumed + t, resumed + 2 * t}));
}

// Who runs ahead hears of a pause after it has planned the start of its next packet.
TEST(PausablePort, APauseComesBeforeAPacketThatStartsAtTheSameTime) {
  Parameters parameters;
  parameters.at_switch.pfc = true;
  const Time t = kilobyte_time();
  for (const bool pause_is_known_first : {true, false}) {
    Star star(2, parameters);
    if (pause_is_known_first) star.nodes[0].port.carry_pause(10 * t, 2 * t);
    for (std::uint32_t i = 0; i < 2; ++i) star.send(0, 1, i);
    star.nodes[0].clock.advance_to(t + 1);
    star.send(0, 1, 2);  // plans to start at 2 * t
    if (!pause_is_known_first) star.nodes[0].port.carry_pause(10 * t, 2 * t);
    star.run();
    ASSERT_EQ(star.nodes[0].sent.size(), 3u);
    EXPECT_EQ(star.nodes[0].sent[2].at, 12 * t) << pause_is_known_first;
  }
}

TEST(PausablePort, GoesOnAtOnceWhenAPauseIsEnded) {
  Parameters parameters;
  parameters.at_switch.pfc = true;
  Star star(2, parameters);
  const Time t = kilobyte_time();
  star.nodes[0].port.carry_pause(100 * t, 1);
  star.nodes[0].port.carry_pause(0, 5 * t);
  for (std::uint32_t i = 0; i < 2; ++i) star.send(0, 1, i);
  star.run();
  EXPECT_EQ(star.nodes[0].sent.at(0).at, 0);
  EXPECT_EQ(star.nodes[0].sent.at(1).at, 5 * t);
}

// Hands over packets of 1 KiB until it is stopped.
struct Filler final : PortListener {
  explicit Filler(Star& its_star) : star(its_star) { star.nodes[0].pausable->set_listener(*this); }
  void fill() {
    while (!stopped && handed < 40) star.send(0, 1, handed++);
  }
  void port_stops() override { stopped = true; }
  void port_goes_on() override {
    stopped = false;
    fill();
  }
  void started(const Departure& departure) override {
    starts.push_back(departure.start);
    EXPECT_EQ(departure.end, departure.start + kilobyte_time());
    longest = std::max(longest, handed - starts.size());
  }

  Star& star;
  bool stopped = false;
  std::uint32_t handed = 0;
  std::size_t longest = 0;  // queue
  std::vector<Time> starts;
};

TEST(PausablePort, TakesNoMoreThanItsBufferDuringAPause) {
  Parameters parameters;
  parameters.at_switch.pfc = true;
  Star star(2, parameters);
  Filler filler(star);
  const Time t = kilobyte_time();
  star.nodes[0].port.carry_pause(20 * t, 0);
  filler.fill();
  PacketPtr packet = star.nodes[0].pool.acquire();
  packet->resize_payload(1024);
  const std::uint64_t bytes = packet->wire_bytes();
  EXPECT_LE(filler.handed * bytes, Node::kPortBuffer);
  EXPECT_GT((filler.handed + 4) * bytes, Node::kPortBuffer);  // room for one of 4 KiB is kept
  const std::size_t most = filler.handed;
  star.run();
  EXPECT_EQ(filler.handed, 40u);
  EXPECT_LE(filler.longest, most);
  ASSERT_EQ(filler.starts.size(), 40u);
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_EQ(filler.starts[i], 20 * t + static_cast<Time>(i) * t);
    EXPECT_EQ(star.nodes[0].sent[i].at, filler.starts[i]);
  }
}

TEST(PausablePort, IsTheEthernetPortWhereNobodyPauses) {
  Parameters parameters;
  Star plain(2, parameters);
  parameters.at_switch.pfc = true;
  Star pausable(2, parameters);
  for (Star* star : {&plain, &pausable}) {
    for (std::uint32_t i = 0; i < 50; ++i) star->send(0, 1, i, i * 37 % 1000);
    star->run();
  }
  EXPECT_EQ(plain.nodes[0].sent, pausable.nodes[0].sent);
  EXPECT_EQ(plain.nodes[1].arrived, pausable.nodes[1].arrived);
}

}  // namespace
}  // namespace hcasim::fabric::test
