// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// What the observer of a run is told; and that the protocol monitor, which is one, speaks when it
// is told of a run that breaks a rule.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/packet.hpp"
#include "hcasim/sim/run.hpp"
#include "support/monitored_run.hpp"

namespace hcasim {
namespace {

constexpr std::uint64_t kMessages = 20;
constexpr std::uint64_t kPacketsOfMessage = 4;

sim::RunResult run(sim::RunObserver& observer, const std::vector<std::string>& settings = {},
                   std::string_view connect = "connect a.q b.q") {
  std::string folder = std::filesystem::temp_directory_path() / "hcasim-observer-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder for the trace");
  sim::RunOptions options;
  options.trace = folder + "/x.trace";
  options.observer = &observer;
  {
    std::ofstream trace(options.trace);
    trace << "hcasim-trace 1\n" << connect << '\n';
    for (std::uint64_t i = 0; i < kMessages; ++i) trace << "b post_recv q length=4096\n";
    for (std::uint64_t i = 0; i < kMessages; ++i) trace << "a post_send q SEND length=4096\n";
  }
  const sim::RunResult result = run_trace(options, sim::load_config({.settings = settings}));
  std::filesystem::remove_all(folder);
  return result;
}

std::uint64_t count(const sim::RunResult& result, std::string_view node, std::string_view name) {
  std::uint64_t sum = 0;
  for (const auto& counter : result.statistics.counters) {
    if (counter.node == node && counter.name == name) sum += counter.value;
  }
  return sum;
}

/// Counts what it is told, by node.
class Tally : public sim::RunObserver {
 public:
  void on_epoch(hw::Time at) override { epoch = at; }
  void on_sent(std::size_t node, const fabric::Packet&, hw::Time start) override {
    EXPECT_GE(start, epoch);
    ++sent[node];
  }
  void on_arrived(std::size_t node, const fabric::Packet&, hw::Time end) override {
    EXPECT_GT(end, epoch);
    ++arrived[node];
  }
  void on_discarded(std::size_t node, const fabric::Packet& packet, hw::Time) override {
    EXPECT_GT(packet.payload_size(), 0u);
    ++discarded[node];
  }
  void on_qp_modified(std::size_t node, const hw::QpContext& context, hw::QpState,
                      hw::Time) override {
    states[node].push_back(context.state);
  }

  hw::Time epoch = hw::kNever;
  std::array<std::uint64_t, 2> sent{};
  std::array<std::uint64_t, 2> arrived{};
  std::array<std::uint64_t, 2> discarded{};
  std::array<std::vector<hw::QpState>, 2> states;
};

TEST(RunObserver, SeesEachPacketAndEachQueuePair) {
  Tally tally;
  const sim::RunResult result = run(tally);
  const std::vector<hw::QpState> life = {hw::QpState::kInit, hw::QpState::kRtr, hw::QpState::kRts};
  EXPECT_EQ(tally.sent[0], kMessages * kPacketsOfMessage);
  EXPECT_EQ(tally.arrived[1], tally.sent[0]);
  EXPECT_EQ(tally.arrived[0], tally.sent[1]);
  EXPECT_EQ(tally.sent[1], count(result, "b", "packets_out"));
  for (const auto& states : tally.states) EXPECT_EQ(states, life);
}

TEST(RunObserver, SeesWhatArrivesOfWhatIsSent) {
  Tally tally;
  const sim::RunResult result = run(tally, {"fabric.faults.loss=0.1"});
  const std::uint64_t lost = count(result, "a", "packets_lost");
  EXPECT_GT(lost, 0u);
  EXPECT_EQ(tally.arrived[1], tally.sent[0] - lost);
}

// b has room for eleven packets, and memory that is too slow for any more.
const std::vector<std::string> kNoRoom = {"node.b.pcie.generation=1", "node.b.pcie.width=1",
                                          "node.b.hca.responder.rx_buffer_bytes=12000"};

TEST(RunObserver, SeesWhatAnAdapterHasNoRoomFor) {
  Tally tally;
  const sim::RunResult result = run(tally, kNoRoom);
  EXPECT_GT(tally.discarded[1], 0u);
  EXPECT_EQ(tally.discarded[1], count(result, "b", "rx_discards_phy"));
  EXPECT_EQ(tally.discarded[0], 0u);
}

/// A monitor that is told everything but what the test keeps from it, or makes up.
class Misled : public support::MonitoredRun {
 public:
  bool broke(monitor::Rule rule) {
    return std::ranges::any_of(monitor().violations().kept(),
                               [rule](const auto& found) { return found.rule == rule; });
  }
};

TEST(MonitoredRun, IsSilentWhereTheRulesAreKept) {
  support::MonitoredRun run_of_it;
  run(run_of_it, {"fabric.faults.loss=0.1"});
  EXPECT_TRUE(run_of_it.monitor().violations().empty()) << run_of_it.monitor().violations().text();
  EXPECT_GT(run_of_it.monitor().packets(), kMessages * kPacketsOfMessage);
}

TEST(MonitoredRun, SpeaksOfAnAnswerToWhatDidNotArrive) {
  class : public Misled {
    void on_arrived(std::size_t node, const fabric::Packet& packet, hw::Time end) override {
      if (node == 0 || ++arrivals_ != 3) MonitoredRun::on_arrived(node, packet, end);
    }
    std::uint64_t arrivals_ = 0;
  } misled;
  run(misled);
  EXPECT_TRUE(misled.broke(monitor::Rule::kAckArrived));
}

TEST(MonitoredRun, SpeaksOfAPacketThatWasNotToBeSent) {
  class : public Misled {
    void on_sent(std::size_t node, const fabric::Packet& packet, hw::Time start) override {
      auto other = std::make_unique<fabric::Packet>();
      other->set_headers(packet);
      other->resize_payload(packet.payload_size());
      if (node == 0 && ++sent_ == 3) other->psn += 1;
      MonitoredRun::on_sent(node, *other, start);
    }
    std::uint64_t sent_ = 0;
  } misled;
  run(misled);
  EXPECT_TRUE(misled.broke(monitor::Rule::kPsnOrder));
}

TEST(MonitoredRun, SpeaksOfPacketsOfAQueuePairThatNobodyMade) {
  class : public Misled {
    void on_qp_modified(std::size_t, const hw::QpContext&, hw::QpState, hw::Time) override {}
  } misled;
  run(misled);
  EXPECT_TRUE(misled.broke(monitor::Rule::kDestination));
}

// What an adapter drops it may ask for again, and nothing else.
TEST(MonitoredRun, SpeaksOfASequenceNakForWhatWasTaken) {
  class : public Misled {
    void on_discarded(std::size_t, const fabric::Packet&, hw::Time) override {}
  } misled;
  run(misled, kNoRoom);
  EXPECT_TRUE(misled.broke(monitor::Rule::kSequenceNak));
}

TEST(MonitoredRun, IsSilentWhereAnAdapterHasNoRoom) {
  support::MonitoredRun run_of_it;
  run(run_of_it, kNoRoom);
  EXPECT_TRUE(run_of_it.monitor().violations().empty()) << run_of_it.monitor().violations().text();
}

// Of queue pairs that are made one by one, the monitor knows what these were told last.
TEST(MonitoredRun, FollowsQueuePairsThatAreMadeOneByOne) {
  constexpr std::string_view kOneByOne = R"(connect a.z b.z
a create_cq c cqe=64
b create_cq c cqe=64
a create_qp q send_cq=c recv_cq=c
b create_qp q send_cq=c recv_cq=c
a modify_qp q state=INIT pkey_index=0 port_num=1 qp_access_flags=all
b modify_qp q state=INIT pkey_index=0 port_num=1 qp_access_flags=all
a modify_qp q state=RTR dest=b.q path_mtu=1024 rq_psn=7 max_dest_rd_atomic=1 min_rnr_timer=1
b modify_qp q state=RTR dest=a.q path_mtu=1024 rq_psn=16777210 max_dest_rd_atomic=1 min_rnr_timer=1
a modify_qp q state=RTS timeout=14 retry_cnt=7 rnr_retry=7 sq_psn=16777210 max_rd_atomic=1
b modify_qp q state=RTS timeout=14 retry_cnt=7 rnr_retry=7 sq_psn=7 max_rd_atomic=1)";
  support::MonitoredRun kept;
  run(kept, {}, kOneByOne);
  EXPECT_TRUE(kept.monitor().violations().empty()) << kept.monitor().violations().text();
  EXPECT_GT(kept.monitor().packets(), kMessages * kPacketsOfMessage);
}

}  // namespace
}  // namespace hcasim
