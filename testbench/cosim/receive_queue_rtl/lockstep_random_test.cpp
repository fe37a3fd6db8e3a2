// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Random traffic through the model and the RTL in lockstep, every cycle run: all builds of the RTL,
// by both simulators, agree with the model on every port, counter and register.
#include <gtest/gtest.h>

#include <deque>
#include <ostream>
#include <sstream>

#include "hca/receive_queue/receive_queue_model.hpp"
#include "hca/receive_queue_rtl/lockstep_receive_queue.hpp"
#include "rtl_libraries.hpp"
#include "sim/cosim/scoreboard.hpp"
#include "support/receive_queue/stimulus.hpp"
#include "support/timing_table/timing_table.hpp"

namespace hcasim::testbench {
namespace {

using hca::Cycle;

std::vector<StimulusProfile> profiles() {
  std::vector<StimulusProfile> all;
  const auto add = [&all](const std::string& name) -> StimulusProfile& {
    all.emplace_back().name = name;
    return all.back();
  };
  add("mixed");
  {
    auto& p = add("busy");
    p.command = 60;
    p.leave = 2;
    p.take = p.doorbell = 80;
  }
  {
    auto& p = add("eviction");
    p.bad_doorbell = 0;
    p.command = 20;
    p.leave = 1;
    p.doorbell = 80;
    p.take = 8;
  }
  {
    auto& p = add("errors");
    p.dma_error = 30;
    p.command = 40;
    p.dma_delay = 60;
    p.bad_doorbell = 40;
    p.doorbell = 60;
    p.event_ready = 30;
  }
  {
    auto& p = add("churn");
    p.command = 70;
    p.leave = 60;
    p.dma_delay = 50;
    p.take = p.doorbell = 60;
  }
  {
    auto& p = add("limits");
    p.bad_doorbell = 10;
    p.command = 50;
    p.leave = 3;
    p.event_ready = 40;
    p.take = p.doorbell = 60;
  }
  {
    auto& p = add("slow_outputs");
    p.cmd_rsp_ready = p.dma_req_ready = p.take_rsp_ready = p.event_ready = 15;
    p.take = p.doorbell = 60;
  }
  {
    auto& p = add("saturated");
    p.strides = {64};
    p.take = p.doorbell = 100;
    p.bad_doorbell = p.leave = p.peek = 0;
    p.largest_ring = 300;
    p.dma_in_order = true;
    p.cmd_rsp_ready = p.dma_req_ready = p.take_rsp_ready = p.event_ready = 100;
  }
  return all;
}

struct Case {
  std::string file;
  StimulusProfile profile;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const bool small : {true, false}) {
    for (const std::string& file : rtl_libraries(small)) {
      const auto parameters = hca::ReceiveQueueLibrary::load(file)->plugin().parameters;
      for (StimulusProfile profile : profiles()) {
        profile.parameters = parameters;
        all.push_back({file, profile});
      }
    }
  }
  return all;
}

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.file << ' ' << c.profile.name;
}

std::string describe_inputs(const hw::rq::Inputs& in) {
  std::ostringstream out;
  if (in.cmd_valid) {
    out << " cmd op=" << static_cast<int>(in.cmd.op) << " queue=" << in.cmd.queue
        << " base=" << in.cmd.base << " size=" << in.cmd.size << " stride=" << in.cmd.stride
        << " head=" << in.cmd.head << " tail=" << in.cmd.tail << " limit=" << in.cmd.limit << ';';
  }
  if (in.doorbell_valid) {
    out << " doorbell queue=" << in.doorbell.queue << " head=" << in.doorbell.head << ';';
  }
  if (in.dma_rsp_valid) {
    out << " dma_rsp tag=" << int{in.dma_rsp.tag} << " last=" << in.dma_rsp.last
        << " error=" << in.dma_rsp.error << ';';
  }
  if (in.take_valid) {
    out << " take queue=" << in.take.queue << " tag=" << in.take.tag
        << (in.take.kind == hw::rq::TakeKind::kPeek ? " PEEK;" : ";");
  }
  out << " ready " << in.cmd_rsp_ready << in.dma_req_ready << in.take_rsp_ready << in.event_ready;
  return out.str();
}

// The ports in the last cycles, for whoever has to find the fault.
class LastCycles {
 public:
  void add(const hw::rq::Inputs& in, const hw::rq::Outputs& out) {
    ports_.emplace_back(in, out);
    if (ports_.size() > 12) ports_.pop_front();
  }
  std::string text(Cycle last) const {
    std::string all;
    Cycle n = last - ports_.size();
    for (const auto& [in, out] : ports_) {
      all += "\ncycle " + std::to_string(++n) + ':' + describe_inputs(in) + " => " + describe(out);
    }
    return all;
  }

 private:
  std::deque<std::pair<hw::rq::Inputs, hw::rq::Outputs>> ports_;
};

std::unique_ptr<hca::LockstepReceiveQueue> model_and(const std::string& file, std::uint64_t seed) {
  const auto library = hca::ReceiveQueueLibrary::load(file);
  std::vector<hca::LockstepSide> sides;
  sides.push_back(hca::lockstep_side(
      "model", std::make_unique<hca::ReceiveQueueModel>(library->plugin().parameters)));
  sides.push_back(hca::lockstep_side(std::make_unique<hca::RtlReceiveQueue>(library, seed)));
  return std::make_unique<hca::LockstepReceiveQueue>(std::move(sides));
}

class RtlLockstep : public testing::TestWithParam<Case> {};

void run(const Case& c, std::uint64_t seed, Cycle cycles) {
  const auto unit = model_and(c.file, seed);
  Scoreboard scoreboard(*unit);
  Stimulus stimulus(c.profile, scoreboard, seed);
  LastCycles last;
  for (Cycle n = 0; n < cycles; ++n) {
    if (n == cycles * 2 / 3) stimulus.drain();
    const hw::rq::Outputs now = unit->outputs();
    const hw::rq::Inputs& in = stimulus.next(n, now);
    last.add(in, now);
    try {
      unit->step(n, in);
    } catch (const std::exception& error) {
      FAIL() << error.what() << last.text(n);
    }
    scoreboard.cycle(n, in, now, unit->outputs());
    ASSERT_TRUE(scoreboard.faults().empty()) << scoreboard.faults().front();
  }
  EXPECT_EQ(unit->coverage().compared, cycles);
  EXPECT_EQ(too_little(unit->coverage()), "");
}

TEST_P(RtlLockstep, AgreesWithTheModelInEveryCycle) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(GetParam().file + ", profile " + GetParam().profile.name + ", seed " +
                 std::to_string(seed));
    run(GetParam(), seed, 6000);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Builds, RtlLockstep, testing::ValuesIn(cases()),
                         [](const auto& param_info) {
                           return stem_of(param_info.param.file) + '_' +
                                  param_info.param.profile.name;
                         });

}  // namespace
}  // namespace hcasim::testbench
