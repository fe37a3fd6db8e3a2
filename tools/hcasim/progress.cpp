// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace hcasim::tools {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// The simulator calls back without a context, and there is one terminal.
bool shown = false;
Clock::time_point next_time = Clock::now() + 2s;

}  // namespace

bool progress_is_wanted() {
  return isatty(STDERR_FILENO) == 1;
}

void show_progress(hw::Time sim_time, std::uint64_t done) {
  const Clock::time_point now = Clock::now();
  if (now < next_time) return;
  next_time = now + 250ms;
  shown = true;
  fmt::print(stderr, "\r{:.3f} ms simulated, {} posted and completed\033[K",
             static_cast<double>(sim_time) / static_cast<double>(hw::kMillisecond), done);
}

void clear_progress() {
  if (shown) std::fputs("\r\033[K", stderr);
  shown = false;
}

}  // namespace hcasim::tools
