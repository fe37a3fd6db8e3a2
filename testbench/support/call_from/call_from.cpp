// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// Dynamic processes must be asked for before <systemc> comes in.
#define SC_INCLUDE_DYNAMIC_PROCESSES

#include "support/call_from/call_from.hpp"

#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <systemc>
#include <utility>

#include "sim/engine/own_stack.hpp"

namespace hcasim::support {

CallFrom parse_call_from(const char* text) {
  const std::string given = text == nullptr ? "thread" : text;
  if (given == "thread") return CallFrom::kThread;
  if (given == "method") return CallFrom::kMethod;
  if (given == "handler") return CallFrom::kHandler;
  throw std::invalid_argument("HCASIM_CALL_FROM: expected thread, method or handler, found '" +
                              given + "'");
}

CallFrom call_from() {
  static const CallFrom given = parse_call_from(std::getenv("HCASIM_CALL_FROM"));
  return given;
}

void spawn_method(std::function<void()> body) {
  sc_core::sc_spawn_options options;
  options.spawn_method();
  sc_core::sc_spawn(std::move(body), sc_core::sc_gen_unique_name("caller"), &options);
}

void run_in_method(const std::function<void()>& body) {
  std::exception_ptr error;
  bool ran = false;
  spawn_method([&] {
    ran = true;
    try {
      body();
    } catch (...) {
      error = std::current_exception();  // which must not pass through the kernel
    }
  });
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  sim::announce_own_stack();
  if (!ran) throw std::logic_error("the kernel does not run");
  if (error) std::rethrow_exception(error);
}

bool inside_method() {
  if (sc_core::sc_get_status() != sc_core::SC_RUNNING) return false;
  const sc_core::sc_process_handle process = sc_core::sc_get_current_process_handle();
  return process.valid() && process.proc_kind() == sc_core::SC_METHOD_PROC_;
}

}  // namespace hcasim::support
