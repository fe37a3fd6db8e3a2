// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "interruption.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>

#include "sim/output/transient_name.hpp"

namespace hcasim::tools {
namespace {

constexpr int kSignalled = 128;

std::atomic<bool> asked = false;
std::atomic<int> caught = 0;

void on_signal(int signal) {
  int none = 0;
  if (asked && caught.compare_exchange_strong(none, signal)) return;
  sim::remove_transient_names();
  ::_exit(kSignalled + signal);
}

}  // namespace

void watch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&action.sa_mask, signal);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    // As under nohup, or in the background of a script.
    if (before.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);
  }
}

bool interrupted() {
  asked.store(true, std::memory_order_relaxed);
  return caught.load(std::memory_order_relaxed) != 0;
}

void end_interrupted() {
  std::_Exit(kSignalled + caught);
}

}  // namespace hcasim::tools
