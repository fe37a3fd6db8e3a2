// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// A side that differs from the reference is found in the cycle in which it does, on each port.
#include "hca/receive_queue_rtl/lockstep_receive_queue.hpp"

#include <gtest/gtest.h>

#include "hca/receive_queue/receive_queue_model.hpp"
#include "sim/cosim/scoreboard.hpp"
#include "support/receive_queue/stimulus.hpp"

namespace hcasim::testbench {
namespace {

using hca::Cycle;
using hca::LockstepMismatch;
using hca::LockstepReceiveQueue;
using hw::rq::Outputs;

/// The model with its outputs, counters or snapshots changed by a function.
class FaultyUnit final : public hca::ReceiveQueueUnit {
 public:
  std::function<bool(Outputs&)> change_outputs;  ///< true: it has changed something
  bool wrong_counter = false;
  bool wrong_snapshot = false;

  const Outputs& step(Cycle cycle, const hw::rq::Inputs& inputs) override {
    out_ = model_.step(cycle, inputs);
    if (change_outputs && change_outputs(out_) && !first_) first_ = cycle + 1;
    return out_;
  }
  const Outputs& outputs() const override { return out_; }
  Cycle next_activity() const override { return model_.next_activity(); }
  const hca::ReceiveQueueCounters& counters() const override {
    counters_ = model_.counters();
    if (wrong_counter && counters_.dma_beats > 3) ++counters_.evictions;
    return counters_;
  }
  hw::rq::Snapshot snapshot(std::uint32_t queue) const override {
    hw::rq::Snapshot snapshot = model_.snapshot(queue);
    if (wrong_snapshot && snapshot.fetch > 2) --snapshot.fetch;
    return snapshot;
  }
  const hw::rq::Parameters& parameters() const override { return model_.parameters(); }

  /// The first cycle with a changed output.
  std::optional<Cycle> first() const { return first_; }

 private:
  hca::ReceiveQueueModel model_{hw::rq::Parameters{}};
  Outputs out_;
  mutable hca::ReceiveQueueCounters counters_;
  std::optional<Cycle> first_;
};

struct Found {
  Cycle cycle = 0;
  hca::PortDifference difference;
  std::string text;
  Cycle planted = 0;
};

// Runs random traffic until the two differ.
std::optional<Found> find(std::unique_ptr<FaultyUnit> faulty) {
  const FaultyUnit& unit = *faulty;
  std::vector<hca::LockstepSide> sides;
  sides.push_back(
      hca::lockstep_side("model", std::make_unique<hca::ReceiveQueueModel>(hw::rq::Parameters{})));
  sides.push_back(hca::lockstep_side("faulty", std::move(faulty)));
  LockstepReceiveQueue lockstep(std::move(sides), "node a: ");
  StimulusProfile profile;
  profile.command = 30;
  Scoreboard scoreboard(lockstep);
  Stimulus stimulus(profile, scoreboard, 1);
  for (Cycle n = 0; n < 5000; ++n) {
    const Outputs now = lockstep.outputs();
    const hw::rq::Inputs& in = stimulus.next(n, now);
    try {
      lockstep.step(n, in);
    } catch (const LockstepMismatch& error) {
      return Found{error.cycle(), error.difference(), error.what(), unit.first().value_or(0)};
    }
    scoreboard.cycle(n, in, now, lockstep.outputs());
  }
  return std::nullopt;
}

struct Fault {
  const char* port;
  const char* field;
  std::function<bool(Outputs&)> change;
};

std::ostream& operator<<(std::ostream& out, const Fault& fault) {
  return out << fault.port << ' ' << fault.field;
}

template <typename Member>
std::function<bool(Outputs&)> flip(Member member) {
  return [member](Outputs& out) { return out.*member = !(out.*member), true; };
}

template <typename Change>
std::function<bool(Outputs&)> when(bool Outputs::*valid, Change change) {
  return [valid, change](Outputs& out) { return out.*valid ? change(out), true : false; };
}

std::vector<Fault> faults() {
  const auto answer = [](auto change) { return when(&Outputs::cmd_rsp_valid, change); };
  const auto request = [](auto change) { return when(&Outputs::dma_req_valid, change); };
  const auto take = [](auto change) { return when(&Outputs::take_rsp_valid, change); };
  const auto event = [](auto change) { return when(&Outputs::event_valid, change); };
  return {
      {"cmd", "ready", flip(&Outputs::cmd_ready)},
      {"doorbell", "ready", flip(&Outputs::doorbell_ready)},
      {"take", "ready", flip(&Outputs::take_ready)},
      {"idle", "idle", flip(&Outputs::idle)},
      {"cmd_rsp", "valid", answer([](Outputs& o) { o.cmd_rsp_valid = false; })},
      {"cmd_rsp", "status",
       answer([](Outputs& o) { o.cmd_rsp.status = static_cast<hw::rq::CommandStatus>(7); })},
      {"cmd_rsp", "head", answer([](Outputs& o) { ++o.cmd_rsp.snapshot.head; })},
      {"cmd_rsp", "limit", answer([](Outputs& o) { ++o.cmd_rsp.snapshot.limit; })},
      {"dma_req", "valid", request([](Outputs& o) { o.dma_req_valid = false; })},
      {"dma_req", "tag", request([](Outputs& o) { ++o.dma_req.tag; })},
      {"dma_req", "address", request([](Outputs& o) { o.dma_req.address += 64; })},
      {"dma_req", "bytes", request([](Outputs& o) { o.dma_req.bytes += 64; })},
      {"take_rsp", "tag", take([](Outputs& o) { ++o.take_rsp.tag; })},
      {"take_rsp", "slot", take([](Outputs& o) { ++o.take_rsp.slot; })},
      {"take_rsp", "remaining", take([](Outputs& o) { ++o.take_rsp.remaining; })},
      {"take_rsp", "wqe byte 63", take([](Outputs& o) { ++o.take_rsp.wqe[63]; })},
      {"event", "queue", event([](Outputs& o) { ++o.event.queue; })},
      {"event", "value", event([](Outputs& o) { ++o.event.value; })},
  };
}

class PlantedFault : public testing::TestWithParam<Fault> {};

TEST_P(PlantedFault, IsFoundAtOnce) {
  auto unit = std::make_unique<FaultyUnit>();
  unit->change_outputs = GetParam().change;
  const auto found = find(std::move(unit));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cycle, found->planted);
  EXPECT_EQ(found->difference.port, GetParam().port);
  EXPECT_EQ(found->difference.field, GetParam().field);
  const std::string begin = "node a: cycle " + std::to_string(found->cycle) + ", " +
                            GetParam().port + ", " + GetParam().field + ": expected ";
  EXPECT_EQ(found->text.find(begin), 0U) << found->text;
}

INSTANTIATE_TEST_SUITE_P(Each, PlantedFault, testing::ValuesIn(faults()));

TEST(LockstepReceiveQueue, AgreesWithItsLike) {
  EXPECT_FALSE(find(std::make_unique<FaultyUnit>()));
}

TEST(LockstepReceiveQueue, ComparesCounters) {
  auto unit = std::make_unique<FaultyUnit>();
  unit->wrong_counter = true;
  const auto found = find(std::move(unit));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->difference.port, "counters");
  EXPECT_EQ(found->difference.field, "evictions");
}

TEST(LockstepReceiveQueue, ComparesRegisters) {
  auto unit = std::make_unique<FaultyUnit>();
  unit->wrong_snapshot = true;
  const auto found = find(std::move(unit));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->difference.port.find("snapshot of queue "), 0U);
  EXPECT_EQ(found->difference.field, "fetch");
}

TEST(LockstepCoverage, TooLittleIsSaid) {
  hca::LockstepCoverage coverage;
  EXPECT_EQ(too_little(coverage), "");
  coverage.compared = 95;
  coverage.not_compared = 5;
  coverage.skipped = 1'000'000;
  EXPECT_EQ(too_little(coverage), "");
  ++coverage.not_compared;
  EXPECT_EQ(too_little(coverage), "only 95 of 101 cycles were compared, less than 95 %");
  coverage.takes_missed = 2;
  EXPECT_EQ(too_little(coverage), "the comparison missed 2 takes");
}

TEST(PortDifference, NarrowPortsCarryTheFirstBytesOfEachHalf) {
  Outputs out;
  out.take_rsp_valid = true;
  out.take_rsp.tag = 0x123;
  out.take_rsp.wqe.fill(0xff);
  hw::rq::PluginWidths widths;
  widths.data = 32;
  widths.take_tag = 8;
  const Outputs narrow = hca::narrowed(out, widths);
  EXPECT_EQ(narrow.take_rsp.tag, 0x23U);
  for (std::size_t i = 0; i < hw::rq::kBeatBytes; ++i) {
    EXPECT_EQ(narrow.take_rsp.wqe[i], i % 32 < 2 ? 0xff : 0) << i;
  }
}

}  // namespace
}  // namespace hcasim::testbench
