// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Three faults, each in what a wrapper shows of a right model.
#include "support/receive_queue/faulty_units.hpp"

#include <map>
#include <memory>
#include <unordered_map>

#include "hca/receive_queue/receive_queue_model.hpp"

namespace hcasim::testbench {
namespace {

using namespace hw::rq;

/// A model whose outputs go through `tamper`.
class FaultyUnit : public hca::ReceiveQueueUnit {
 public:
  explicit FaultyUnit(const Parameters& parameters) : model_(parameters) {}

  const Outputs& step(hca::Cycle cycle, const Inputs& in) override {
    if (in.take_valid && out_.take_ready) takes_[in.take.tag] = in.take.queue;
    model_.step(cycle, seen(in));
    out_ = model_.outputs();
    tamper(in);
    return out_;
  }
  const Outputs& outputs() const override { return out_; }
  hca::Cycle next_activity() const override { return model_.next_activity(); }
  const hca::ReceiveQueueCounters& counters() const override { return model_.counters(); }
  Snapshot snapshot(std::uint32_t queue) const override { return model_.snapshot(queue); }
  const Parameters& parameters() const override { return model_.parameters(); }

 protected:
  /// What the model sees of the inputs.
  virtual Inputs seen(const Inputs& in) { return in; }
  virtual void tamper(const Inputs& in) = 0;

  bool shows_wqe() const {
    return out_.take_rsp_valid && out_.take_rsp.status == TakeStatus::kOk &&
           out_.take_rsp.wqe != Beat{};
  }
  std::uint32_t queue_of_take() { return takes_[out_.take_rsp.tag]; }

  hca::ReceiveQueueModel model_;
  Outputs out_;

 private:
  std::unordered_map<std::uint32_t, std::uint32_t> takes_;
};

class WrongRemaining final : public FaultyUnit {
 public:
  using FaultyUnit::FaultyUnit;

 private:
  void tamper(const Inputs&) override {
    if (!shows_wqe()) return;
    const unsigned size = model_.snapshot(queue_of_take()).size;
    if (out_.take_rsp.slot + 1U == size) ++out_.take_rsp.remaining;
  }
};

class EventTwice final : public FaultyUnit {
 public:
  using FaultyUnit::FaultyUnit;

 private:
  // The model waits with its next event while the former one is shown again.
  Inputs seen(const Inputs& in) override {
    Inputs changed = in;
    if (again_) changed.event_ready = false;
    return changed;
  }

  void tamper(const Inputs& in) override {
    const bool accepted = shown_.event_valid && in.event_ready;
    if (accepted && again_) {
      again_ = false;
    } else if (accepted && shown_.event.kind == EventKind::kSrqLimit) {
      again_ = true;
      event_ = shown_.event;
    }
    if (again_) {
      out_.event_valid = true;
      out_.event = event_;
    }
    shown_ = out_;
  }

  bool again_ = false;
  Event event_;
  Outputs shown_;
};

class StaleLine final : public FaultyUnit {
 public:
  using FaultyUnit::FaultyUnit;

 private:
  struct Life {
    bool over = false;
    bool has_data = false;
    Beat data{};
    bool stale_now = false;  ///< the answer on the port is the tampered one
  };

  void tamper(const Inputs& in) override {
    for (auto& [queue, life] : lives_) {
      if (model_.snapshot(queue).state == QueueState::kInvalid) life.over = true;
    }
    const bool fresh = !shown_.take_rsp_valid || (in.take_rsp_ready && shown_.take_rsp.last);
    shown_ = out_;
    if (!shows_wqe()) return;
    Life& life = lives_[queue_of_take()];
    if (fresh) {
      life.stale_now = life.over && life.has_data;
      life.over = false;
      if (!life.stale_now) life.data = out_.take_rsp.wqe;
      life.has_data = true;
    }
    if (life.stale_now) out_.take_rsp.wqe = life.data;
  }

  std::map<std::uint32_t, Life> lives_;
  Outputs shown_;
};

template <typename Unit>
sim::cosim::Side side(const char* name) {
  return {name, [](const Parameters& parameters) { return std::make_unique<Unit>(parameters); }};
}

}  // namespace

sim::cosim::Side wrong_remaining_at_wrap() {
  return side<WrongRemaining>("wrong_remaining_at_wrap");
}

sim::cosim::Side limit_event_twice() {
  return side<EventTwice>("limit_event_twice");
}

sim::cosim::Side stale_line_after_init() {
  return side<StaleLine>("stale_line_after_init");
}

}  // namespace hcasim::testbench
