// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/output/transient_name.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <utility>

namespace hcasim::sim {

namespace {

// A signal handler may look at nothing but plain atomics. A program has a few files open at a time;
// one beyond this number is only not removed on a signal.
constexpr std::size_t kSlots = 64;
std::array<std::atomic<const char*>, kSlots> slots{};

std::size_t take_slot(const char* name) {
  for (std::size_t i = 0; i < kSlots; ++i) {
    const char* free = nullptr;
    if (slots[i].compare_exchange_strong(free, name)) return i;
  }
  return kSlots;
}

}  // namespace

TransientName::TransientName(std::string name)
    : name_(std::move(name)), slot_(take_slot(name_.c_str())) {}

TransientName::~TransientName() {
  if (slot_ < kSlots) slots[slot_].store(nullptr);
}

void remove_transient_names() noexcept {
  for (std::size_t i = kSlots; i-- > 0;) {
    const char* const name = slots[i].load();
    if (name == nullptr) continue;
    if (::unlink(name) != 0) ::rmdir(name);
  }
}

SignalsHeld::SignalsHeld() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before_);
}

SignalsHeld::~SignalsHeld() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace hcasim::sim
