// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "support/receive_queue/slow_unit.hpp"

#include <memory>

#include "hca/receive_queue/receive_queue_model.hpp"

namespace hcasim::testbench {
namespace {

using namespace hw::rq;

class SlowUnit final : public hca::ReceiveQueueUnit {
 public:
  explicit SlowUnit(const Parameters& parameters) : model_(parameters) {}

  const Outputs& step(hca::Cycle cycle, const Inputs& in) override {
    Inputs inner = in;
    inner.take = held_;
    inner.take_valid = full_ && age_ >= kDelay;
    if (inner.take_valid && model_.outputs().take_ready) full_ = false;
    ++age_;
    if (in.take_valid && out_.take_ready) {
      full_ = true;
      held_ = in.take;
      age_ = 0;
    }
    model_.step(cycle, inner);
    out_ = model_.outputs();
    out_.take_ready = !full_;
    out_.idle = out_.idle && !full_;
    return out_;
  }
  const Outputs& outputs() const override { return out_; }
  hca::Cycle next_activity() const override { return 0; }
  const hca::ReceiveQueueCounters& counters() const override { return model_.counters(); }
  Snapshot snapshot(std::uint32_t queue) const override { return model_.snapshot(queue); }
  const Parameters& parameters() const override { return model_.parameters(); }

 private:
  static constexpr unsigned kDelay = 5;

  hca::ReceiveQueueModel model_;
  Outputs out_;
  bool full_ = false;
  Take held_;
  unsigned age_ = 0;
};

}  // namespace

sim::cosim::Side slow_side() {
  return {"slow",
          [](const Parameters& parameters) { return std::make_unique<SlowUnit>(parameters); }};
}

}  // namespace hcasim::testbench
