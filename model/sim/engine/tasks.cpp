// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Dynamic processes must be asked for before <systemc> comes in.
#define SC_INCLUDE_DYNAMIC_PROCESSES

#include "sim/engine/tasks.hpp"

#include <systemc>
#include <utility>
#include <vector>

namespace hcasim::sim {

namespace {

// One SC_THREAD, and after its end another one. `turn` tells a wake-up that was meant for an
// earlier wait from the present one.
struct Task {
  std::function<void()> body;
  sc_core::sc_event wake;
  std::uint32_t turn = 0;
  bool started = false;
};

constexpr std::uint64_t wake_argument(std::uint64_t index, std::uint32_t turn) {
  return index << 32 | turn;
}

}  // namespace

class Tasks::Impl : public Unit {
 public:
  explicit Impl(Engine& engine) : Unit(engine, "tasks") {}

  void start(std::function<void()> body) {
    const std::uint64_t index = free_task();
    tasks_[index]->body = std::move(body);
    wake(index, now());
  }

  void wake(std::uint64_t index, Time at) {
    engine().schedule_from_outside(*this, at, wake_argument(index, tasks_[index]->turn));
  }

  void on_event(std::uint64_t argument) override {
    const std::uint64_t index = argument >> 32;
    Task& task = *tasks_[index];
    if (static_cast<std::uint32_t>(argument) != task.turn) return;
    ++task.turn;
    engine().request_stop();
    if (task.started) {
      task.wake.notify();
      return;
    }
    task.started = true;
    sc_core::sc_spawn([this, index] { run(index); });
  }

  // Until somebody wakes this task; the caller has arranged for that.
  void suspend() {
    const std::uint64_t index = running_;
    running_ = kNobody;
    sc_core::wait(tasks_[index]->wake);
    running_ = index;
  }

  std::uint64_t running() const { return running_; }
  Engine& node() const { return engine(); }
  static constexpr std::uint64_t kNobody = ~std::uint64_t{0};

 private:
  void run(std::uint64_t index) {
    running_ = index;
    try {
      tasks_[index]->body();
    } catch (const sc_core::sc_unwind_exception&) {
      throw;  // the kernel takes the process down
    } catch (...) {
      engine().abandon(std::current_exception());
    }
    running_ = kNobody;
    tasks_[index]->body = nullptr;
    tasks_[index]->started = false;
    free_.push_back(index);
  }

  std::uint64_t free_task() {
    if (free_.empty()) {
      tasks_.push_back(std::make_unique<Task>());
      return tasks_.size() - 1;
    }
    const std::uint64_t index = free_.back();
    free_.pop_back();
    return index;
  }

  std::vector<std::unique_ptr<Task>> tasks_;
  std::vector<std::uint64_t> free_;
  std::uint64_t running_ = kNobody;
};

namespace {

class CountedWaitPoint : public hw::WaitPoint {
 public:
  CountedWaitPoint(Engine& engine, std::function<void(std::uint64_t, Time)> wake,
                   std::function<std::uint64_t()> running, std::function<void()> suspend)
      : engine_(engine),
        wake_(std::move(wake)),
        running_(std::move(running)),
        suspend_(std::move(suspend)) {}

  void signal() override {
    ++count_;
    if (waiter_ != kNobody) wake_(std::exchange(waiter_, kNobody), engine_.now());
  }

  bool wait(Time timeout) override {
    if (count_ == 0) {
      waiter_ = running_();
      if (timeout != hw::kNever) wake_(waiter_, engine_.now() + timeout);
      suspend_();
      waiter_ = kNobody;
    }
    if (count_ == 0) return false;
    --count_;
    return true;
  }

 private:
  static constexpr std::uint64_t kNobody = ~std::uint64_t{0};

  Engine& engine_;
  std::function<void(std::uint64_t, Time)> wake_;
  std::function<std::uint64_t()> running_;
  std::function<void()> suspend_;
  std::uint64_t count_ = 0;
  std::uint64_t waiter_ = kNobody;
};

}  // namespace

Tasks::Tasks(Engine& engine) : impl_(std::make_unique<Impl>(engine)) {}
Tasks::~Tasks() = default;

void Tasks::start(std::function<void()> body) {
  impl_->start(std::move(body));
}

bool Tasks::inside_task() const {
  return impl_->running() != Impl::kNobody;
}

std::unique_ptr<hw::WaitPoint> Tasks::make_wait_point() {
  Impl* impl = impl_.get();
  return std::make_unique<CountedWaitPoint>(
      impl->node(), [impl](std::uint64_t task, Time at) { impl->wake(task, at); },
      [impl] { return impl->running(); }, [impl] { impl->suspend(); });
}

void Tasks::sleep_until(Time when) {
  impl_->wake(impl_->running(), when);
  impl_->suspend();
}

}  // namespace hcasim::sim
