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

  // Until somebody wakes this task, or `when`.
  void suspend_until(Time when) {
    std::uint64_t time_out = 0;
    if (when != hw::kNever) {
      const std::uint64_t argument = wake_argument(running_, tasks_[running_]->turn);
      time_out = engine().schedule_time_out(*this, when, argument);
    }
    suspend();
    engine().withdraw(time_out);
  }

  std::uint64_t running() const { return running_; }
  Engine& node() const { return engine(); }
  static constexpr std::uint64_t kNobody = ~std::uint64_t{0};

 private:
  void suspend() {
    const std::uint64_t index = running_;
    running_ = kNobody;
    sc_core::wait(tasks_[index]->wake);
    running_ = index;
  }

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

class Tasks::CountedWaitPoint : public hw::WaitPoint {
 public:
  explicit CountedWaitPoint(Impl& tasks) : tasks_(tasks) {}

  void signal() override {
    ++count_;
    if (waiter_ != Impl::kNobody) {
      tasks_.wake(std::exchange(waiter_, Impl::kNobody), tasks_.node().now());
    }
  }

  bool wait(Time timeout) override {
    if (count_ == 0) {
      waiter_ = tasks_.running();
      tasks_.suspend_until(timeout == hw::kNever ? hw::kNever : tasks_.node().now() + timeout);
      waiter_ = Impl::kNobody;
    }
    if (count_ == 0) return false;
    --count_;
    return true;
  }

 private:
  Impl& tasks_;
  std::uint64_t count_ = 0;
  std::uint64_t waiter_ = Impl::kNobody;
};

Tasks::Tasks(Engine& engine) : impl_(std::make_unique<Impl>(engine)) {}
Tasks::~Tasks() = default;

void Tasks::start(std::function<void()> body) {
  impl_->start(std::move(body));
}

bool Tasks::inside_task() const {
  return impl_->running() != Impl::kNobody;
}

std::unique_ptr<hw::WaitPoint> Tasks::make_wait_point() {
  return std::make_unique<CountedWaitPoint>(*impl_);
}

void Tasks::sleep_until(Time when) {
  impl_->suspend_until(when);
}

}  // namespace hcasim::sim
