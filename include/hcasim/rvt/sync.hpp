// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "hcasim/hw/host_port.hpp"

/// Locks of the driver. The simulated CPU runs one activity at a time, so a spin lock only marks a
/// section; with assertions on, sections check the order r_lock, s_hlock, s_lock, leaves, and that
/// nothing waits inside.
namespace hcasim::rvt {

/// Place of a lock in the order; leaves may nest in each other.
enum class LockRank : std::uint8_t { kReceive = 0, kSendHead = 1, kSend = 2, kLeaf = 3 };

/// A lock that must not be held across a wait.
struct spinlock_t {
  LockRank rank = LockRank::kLeaf;
};

/// A breach of the order of locks: a fault of the driver, never of its caller.
class LockOrderError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// With and without assertions these are different types, so that a program may be built in another
// way than the library.
#ifdef NDEBUG
inline namespace locks_unchecked {
/// True when locks are checked.
inline constexpr bool kLocksChecked = false;

/// Holds a lock for the life of the guard.
class SpinGuard {
 public:
  explicit SpinGuard(spinlock_t& /*lock*/) {}
  ~SpinGuard() {}  // not trivial, so that unused guards draw no warning
  SpinGuard(const SpinGuard&) = delete;
  SpinGuard& operator=(const SpinGuard&) = delete;
};

/// A section in which no interrupt comes, without a lock: it may be opened with any lock held.
class InterruptsOff {
 public:
  InterruptsOff() {}
  ~InterruptsOff() {}
  InterruptsOff(const InterruptsOff&) = delete;
  InterruptsOff& operator=(const InterruptsOff&) = delete;
};

/// Marks the activity as within a data verb, which may not wait, for the life of the guard.
class DataVerb {
 public:
  explicit DataVerb(const char* /*name*/) {}
  ~DataVerb() {}
  DataVerb(const DataVerb&) = delete;
  DataVerb& operator=(const DataVerb&) = delete;
};

/// Throws LockOrderError when a lock is held or a data verb runs. `what` would wait.
inline void assert_no_lock_held(const char* /*what*/ = "wait") {}
}  // namespace locks_unchecked
#else
inline namespace locks_checked {
inline constexpr bool kLocksChecked = true;

/// Where an interrupt may come: at the begin and the end of a data verb and of a section, with no
/// section open. A test sets a function that then runs as the handler; it never interrupts itself.
class Preemption {
 public:
  /// Runs at every point from now on; an empty function ends that.
  static void set_hook(std::function<void()> hook) { hook_ = std::move(hook); }
  /// Called by the guards. Not while an error is on its way up.
  static void point() {
    if (!hook_ || running_ || closed_ != 0 || std::uncaught_exceptions() != 0) return;
    const Handler handler;
    hook_();
  }

 private:
  friend class SpinGuard;
  friend class InterruptsOff;
  friend class DataVerb;
  // An activity of its own: what it may do is no matter of what it interrupts.
  class Handler {
   public:
    Handler() : interrupted_(std::exchange(verb_, nullptr)) { running_ = true; }
    ~Handler() {
      running_ = false;
      verb_ = interrupted_;
    }
    Handler(const Handler&) = delete;
    Handler& operator=(const Handler&) = delete;

   private:
    const char* interrupted_;
  };
  static void close() {
    point();
    ++closed_;
  }
  static void open() {
    --closed_;
    point();
  }
  inline static thread_local std::function<void()> hook_;
  inline static thread_local bool running_ = false;
  inline static thread_local std::size_t closed_ = 0;      // sections open
  inline static thread_local const char* verb_ = nullptr;  // innermost data verb that runs
};

class InterruptsOff {
 public:
  InterruptsOff() { Preemption::close(); }
  ~InterruptsOff() noexcept(false) { Preemption::open(); }
  InterruptsOff(const InterruptsOff&) = delete;
  InterruptsOff& operator=(const InterruptsOff&) = delete;
};

class SpinGuard {
 public:
  explicit SpinGuard(spinlock_t& lock) {
    if (held_ == 0) Preemption::point();
    push(lock);
    ++Preemption::closed_;
  }
  ~SpinGuard() noexcept(false) {
    --held_;
    Preemption::open();
  }
  SpinGuard(const SpinGuard&) = delete;
  SpinGuard& operator=(const SpinGuard&) = delete;

  /// How many locks are held.
  static std::size_t held() { return held_; }

 private:
  static void push(spinlock_t& lock) {
    for (std::size_t i = 0; i < held_; ++i) {
      if (stack_[i] == &lock) throw LockOrderError("spin lock taken twice");
      if (lock.rank < stack_[i]->rank) throw LockOrderError("spin lock out of order");
    }
    if (held_ == stack_.size()) throw LockOrderError("too many spin locks held");
    stack_[held_++] = &lock;
  }
  inline static thread_local std::array<const spinlock_t*, 8> stack_{};
  inline static thread_local std::size_t held_ = 0;
};

class DataVerb {
 public:
  explicit DataVerb(const char* name) : outer_(Preemption::verb_) {
    Preemption::point();
    Preemption::verb_ = name;
  }
  ~DataVerb() noexcept(false) {
    Preemption::verb_ = outer_;
    Preemption::point();
  }
  DataVerb(const DataVerb&) = delete;
  DataVerb& operator=(const DataVerb&) = delete;

  /// The innermost data verb that runs; null outside.
  static const char* running() { return Preemption::verb_; }

 private:
  const char* outer_;
};

inline void assert_no_lock_held(const char* what = "wait") {
  if (SpinGuard::held() != 0) throw LockOrderError(std::string(what) + " with a spin lock held");
  if (DataVerb::running() != nullptr)
    throw LockOrderError(std::string(what) + " in the data verb " + DataVerb::running());
}
}  // namespace locks_checked
#endif

/// A lock that is held across waits: control verbs of one object, commands of one device. Tasks get
/// it in the order in which they asked.
class Mutex {
 public:
  /// Tasks only.
  void lock(hw::HostPort& port);
  /// Hands over to the longest waiter.
  void unlock();
  /// True while a task has it.
  bool held() const { return held_; }

 private:
  bool held_ = false;
  std::uint32_t waiting_ = 0;
  std::unique_ptr<hw::WaitPoint> turn_;
};

/// Holds a mutex for the life of the guard.
class MutexGuard {
 public:
  MutexGuard(Mutex& mutex, hw::HostPort& port) : mutex_(mutex) { mutex_.lock(port); }
  ~MutexGuard() { mutex_.unlock(); }
  MutexGuard(const MutexGuard&) = delete;
  MutexGuard& operator=(const MutexGuard&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace hcasim::rvt
