// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "pcie/endpoint.hpp"

#include <gtest/gtest.h>

#include <random>

#include "support/pcie_node.hpp"

namespace hcasim {
namespace {

using pcie::Endpoint;
using pcie::Parameters;
using testing::At;
using testing::default_link_ps;
using testing::RecordingClient;
using testing::RecordingHost;
using Time = hw::Time;

constexpr Time kPropagation = 20'000;
constexpr Time kDrain = 60'000;  // write_latency_ns
constexpr std::uint64_t kBase = std::uint64_t{1} << 32;

struct EndpointTest : ::testing::Test {
  explicit EndpointTest(const Parameters& p = {}) : endpoint(engine, "pcie", p, host) {}

  void run_until(Time time) {
    at.at(time, [] {});
    engine.run_before(time + 1);
  }
  void read(std::uint64_t address, std::uint32_t bytes, std::uint64_t token = 0) {
    endpoint.read(address, buffer, bytes, client, token);
  }

  sim::Engine engine{"node"};
  RecordingHost host;
  RecordingClient client{engine};
  At at{engine};
  Endpoint endpoint;
  std::uint8_t buffer[8192] = {};
};

TEST_F(EndpointTest, WriteArrivesWhenItsLastByteHasCrossedTheLink) {
  EXPECT_EQ(endpoint.write(kBase, buffer, 64), default_link_ps(64 + 24) + kPropagation + 60'000);
  EXPECT_EQ(host.writes[0].arrival, default_link_ps(88) + kPropagation);
}

TEST_F(EndpointTest, WritesBackToBackDoNotDrift) {
  for (int i = 0; i < 10'000; ++i) endpoint.write(kBase, buffer, 64);
  EXPECT_EQ(host.writes.back().arrival, default_link_ps(10'000 * 88.0) + kPropagation);
  EXPECT_EQ(endpoint.upstream().bytes(), 880'000u);
}

TEST_F(EndpointTest, LinkIsIdleBetweenDistantWrites) {
  endpoint.write(kBase, buffer, 64);
  run_until(1'000'000);
  endpoint.write(kBase, buffer, 64);
  EXPECT_EQ(host.writes[1].arrival, 1'000'000 + default_link_ps(88) + kPropagation);
}

TEST_F(EndpointTest, LongWriteIsOneTransactionOfManyTlps) {
  endpoint.write(kBase + 0xf80, buffer, 8192);
  ASSERT_EQ(host.writes.size(), 1u);
  // 128, 4096 and 3968 bytes by page: 1 + 16 + 16 TLPs.
  EXPECT_EQ(host.writes[0].arrival, default_link_ps(8192 + 33 * 24) + kPropagation);
}

TEST_F(EndpointTest, ReadDoesNotPassAWrite) {
  endpoint.write(kBase, buffer, 4096);
  read(kBase, 64);
  EXPECT_EQ(host.reads[0].arrival, default_link_ps(4096 + 16 * 24 + 24) + kPropagation);
  EXPECT_GT(host.reads[0].arrival, host.writes[0].arrival);
}

TEST_F(EndpointTest, ReadIsAskedForAtItsFirstRequest) {
  read(kBase, 4096);
  read(kBase, 64);
  ASSERT_EQ(host.reads.size(), 2u);
  EXPECT_EQ(host.reads[0].arrival, default_link_ps(24) + kPropagation);
  EXPECT_EQ(host.reads[1].arrival, default_link_ps(9 * 24) + kPropagation);
  EXPECT_EQ(endpoint.requests_outstanding(), 9u);
}

TEST_F(EndpointTest, ClientIsCalledWhenTheLastCompletionArrives) {
  read(kBase, 64, 7);
  host.reads[0].complete(500'000);
  engine.run_before(500'000);
  EXPECT_TRUE(client.done.empty());
  engine.run_before(500'001);
  EXPECT_EQ(client.done, (std::vector<RecordingClient::Done>{{7, false, 500'000}}));
}

TEST_F(EndpointTest, ErrorReachesTheClient) {
  read(kBase, 64, 7);
  host.reads[0].complete(500'000, true);
  engine.run_before(hw::kNever);
  EXPECT_TRUE(client.done.at(0).error);
  EXPECT_EQ(endpoint.counters().read_errors, 1u);
}

TEST_F(EndpointTest, InterruptIsAWriteOfItsVector) {
  endpoint.interrupt(513);
  EXPECT_EQ(host.writes[0].address, pcie::kMsixAddress);
  EXPECT_EQ(host.writes[0].bytes, (std::vector<std::uint8_t>{1, 2, 0, 0}));
}

// --- Credits and tags
// -----------------------------------------------------------------------------

Parameters few_posted_headers() {
  Parameters p;
  p.posted_header_credits = 2;
  return p;
}
struct FewPostedHeaders : EndpointTest {
  FewPostedHeaders() : EndpointTest(few_posted_headers()) {}
};

TEST_F(FewPostedHeaders, WriteStallsUntilAHeaderCreditIsBack) {
  for (int i = 0; i < 3; ++i) endpoint.write(kBase, buffer, 64);
  const Time first_back = default_link_ps(88) + kPropagation + kDrain + kPropagation;
  EXPECT_EQ(host.writes[1].arrival, default_link_ps(2 * 88) + kPropagation);
  EXPECT_EQ(host.writes[2].arrival, first_back + default_link_ps(88) + kPropagation);
  EXPECT_EQ(endpoint.counters().write_waits, 1u);
}

TEST_F(FewPostedHeaders, WriteDoesNotStallOnceTheCreditIsBack) {
  endpoint.write(kBase, buffer, 64);
  endpoint.write(kBase, buffer, 64);
  const Time first_back = default_link_ps(88) + kPropagation + kDrain + kPropagation;
  run_until(first_back - 1);
  endpoint.write(kBase, buffer, 64);
  EXPECT_EQ(endpoint.counters().write_waits, 1u);
  EXPECT_EQ(host.writes[2].arrival, first_back + default_link_ps(88) + kPropagation);
  const Time second_back = default_link_ps(2 * 88) + kPropagation + kDrain + kPropagation;
  run_until(second_back);
  endpoint.write(kBase, buffer, 64);
  EXPECT_EQ(endpoint.counters().write_waits, 1u);
}

TEST_F(FewPostedHeaders, ReadWaitsBehindAStalledWrite) {
  for (int i = 0; i < 3; ++i) endpoint.write(kBase, buffer, 64);
  read(kBase, 64);
  EXPECT_GT(host.reads[0].arrival, host.writes[2].arrival);
}

Parameters few_data_credits() {
  Parameters p;
  p.posted_data_credits = 24;  // 384 bytes
  return p;
}
struct FewDataCredits : EndpointTest {
  FewDataCredits() : EndpointTest(few_data_credits()) {}
};

TEST_F(FewDataCredits, TlpsOfOneWriteStallOneByOne) {
  endpoint.write(kBase, buffer, 512);  // 16 credits, then 16 more that need 8 of them back
  const Time first_back = default_link_ps(280) + kPropagation + kDrain + kPropagation;
  EXPECT_EQ(host.writes[0].arrival, first_back + default_link_ps(280) + kPropagation);
}

TEST_F(FewDataCredits, CreditsOfPartOfAWriteComeBack) {
  endpoint.write(kBase, buffer, 384);  // 256 + 128 in one go: takes all credits
  endpoint.write(kBase, buffer, 256);  // needs the first TLP of it back, not the second
  const Time first_back = default_link_ps(280) + kPropagation + kDrain + kPropagation;
  EXPECT_NEAR(static_cast<double>(host.writes[1].arrival),
              static_cast<double>(first_back + default_link_ps(280) + kPropagation), 1.0);
}

Parameters two_tags() {
  Parameters p;
  p.tags = 2;
  return p;
}
struct TwoTags : EndpointTest {
  TwoTags() : EndpointTest(two_tags()) {}
};

TEST_F(TwoTags, ThirdReadWaitsForATagToThePicosecond) {
  for (std::uint64_t i = 0; i < 3; ++i) read(kBase, 64, i);
  ASSERT_EQ(host.reads.size(), 2u);
  run_until(300'000);
  host.reads[1].complete(400'000);
  engine.run_before(400'000);
  EXPECT_EQ(host.reads.size(), 2u);
  engine.run_before(400'001);
  ASSERT_EQ(host.reads.size(), 3u);
  EXPECT_EQ(host.reads[2].arrival, 400'000 + default_link_ps(24) + kPropagation);
  EXPECT_EQ(endpoint.counters().read_waits, 1u);
}

TEST_F(TwoTags, LongReadIsAskedForInPartsAndEndsOnce) {
  read(kBase, 2048, 5);  // four requests
  ASSERT_EQ(host.reads.size(), 1u);
  EXPECT_EQ(host.reads[0].bytes, 1024u);
  run_until(300'000);
  host.reads[0].complete(400'000);
  // The first request's completions end before the second's begin: 512 bytes in two completions.
  const Time first_tag = 400'000 - default_link_ps(552) + 1;
  engine.run_before(first_tag);
  EXPECT_EQ(host.reads.size(), 1u);
  engine.run_before(first_tag + 1);
  ASSERT_EQ(host.reads.size(), 2u);
  EXPECT_EQ(host.reads[1].bytes, 512u);
  EXPECT_EQ(host.reads[1].address, kBase + 1024);
  EXPECT_EQ(host.reads[1].to, buffer + 1024);
  engine.run_before(400'001);
  ASSERT_EQ(host.reads.size(), 3u);
  EXPECT_EQ(host.reads[2].to, buffer + 1536);
  EXPECT_TRUE(client.done.empty());
  host.reads[1].complete(700'000);
  host.reads[2].complete(800'000);
  engine.run_before(hw::kNever);
  EXPECT_EQ(client.done, (std::vector<RecordingClient::Done>{{5, false, 800'000}}));
}

TEST_F(TwoTags, WritePassesAWaitingRead) {
  for (std::uint64_t i = 0; i < 3; ++i) read(kBase, 64, i);
  endpoint.write(kBase, buffer, 64);
  EXPECT_EQ(host.writes[0].arrival, default_link_ps(2 * 24 + 88) + kPropagation);
}

TEST_F(TwoTags, LaterReadDoesNotPassAWaitingOne) {
  read(kBase, 2048, 0);
  read(kBase + 4096, 64, 1);
  run_until(300'000);
  host.reads[0].complete(400'000);
  engine.run_before(400'001);
  EXPECT_EQ(host.reads.back().address, kBase + 1536);  // not 4096
}

Parameters one_request_credit() {
  Parameters p;
  p.nonposted_header_credits = 1;
  return p;
}
struct OneRequestCredit : EndpointTest {
  OneRequestCredit() : EndpointTest(one_request_credit()) {}
};

TEST_F(OneRequestCredit, CreditIsBackOnePropagationAfterTheRootComplexTookTheRequest) {
  read(kBase, 64, 0);
  read(kBase, 64, 1);
  ASSERT_EQ(host.reads.size(), 1u);
  run_until(300'000);
  host.reads[0].complete(900'000);  // the data itself comes much later
  engine.run_before(300'000 + kPropagation);
  EXPECT_EQ(host.reads.size(), 1u);
  engine.run_before(300'000 + kPropagation + 1);
  EXPECT_EQ(host.reads.size(), 2u);
}

// Against counting credits TLP by TLP.
TEST(PostedCredits, AgreeWithAReferenceThatCountsEachTlp) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    Parameters p;
    p.posted_header_credits = static_cast<std::uint32_t>(random() % 20 + 1);
    p.posted_data_credits = static_cast<std::uint32_t>(random() % 100 + 16);
    sim::Engine engine("node");
    RecordingHost host;
    At at(engine);
    Endpoint endpoint(engine, "pcie", p, host);
    const pcie::TlpLayout layout(p);
    fabric::LinkClock link(endpoint.upstream().rate());
    struct Back {
      Time at;
      std::uint32_t data;
    };
    std::vector<Back> out;
    std::size_t first = 0;
    std::uint32_t headers = p.posted_header_credits;
    std::uint32_t credits = p.posted_data_credits;
    std::uint8_t buffer[8192] = {};
    Time time = 0;
    for (int i = 0; i < 50; ++i) {
      time += static_cast<Time>(random() % 100'000);
      at.at(time, [] {});
      engine.run_before(time + 1);
      std::uint64_t address = kBase + random() % 8192;
      auto bytes = static_cast<std::uint32_t>(random() % (random() % 4 == 0 ? 8192 : 300) + 1);
      endpoint.write(address, buffer, bytes);
      Time arrival = 0;
      while (bytes != 0) {
        const std::uint32_t piece = layout.first_write(address, bytes);
        const std::uint32_t need = (piece + 15) / 16;
        Time start = time;
        while (headers == 0 || credits < need) {
          // Credits are looked at when the link is free; what is back by then costs no time.
          start = std::max(start, out[first].at);
          ++headers;
          credits += out[first++].data;
        }
        --headers;
        credits -= need;
        arrival = link.reserve(start, piece + 24).end + kPropagation;
        out.push_back({arrival + kDrain + kPropagation, need});
        address += piece;
        bytes -= piece;
      }
      // A stall starts at a whole picosecond, which the reference rounds differently at times.
      ASSERT_NEAR(static_cast<double>(host.writes.back().arrival), static_cast<double>(arrival),
                  static_cast<double>(first) + 1);
    }
  }
}

}  // namespace
}  // namespace hcasim
