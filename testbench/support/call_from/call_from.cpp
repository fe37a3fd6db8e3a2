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

namespace {

// One method for all calls: processes that end cost the kernel more with each that was there.
class Caller {
 public:
  Caller() {
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.dont_initialize();
    options.set_sensitivity(&called_);
    sc_core::sc_spawn([this] { make(); }, sc_core::sc_gen_unique_name("caller"), &options);
  }

  void call(const std::function<void()>& body) {
    body_ = &body;
    called_.notify(sc_core::SC_ZERO_TIME);
    // The notification takes a cycle, and the method another one.
    for (int cycle = 0; cycle < 2 && body_ != nullptr; ++cycle) {
      sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    sim::announce_own_stack();
    if (body_ != nullptr) throw std::logic_error("the kernel does not run");
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  void make() {
    const std::function<void()>& body = *std::exchange(body_, nullptr);
    try {
      body();
    } catch (...) {
      error_ = std::current_exception();  // which must not pass through the kernel
    }
  }

  sc_core::sc_event called_;
  const std::function<void()>* body_ = nullptr;
  std::exception_ptr error_;
};

}  // namespace

void run_in_method(const std::function<void()>& body) {
  static auto& caller = *new Caller;  // as long as the kernel, which is never taken down
  caller.call(body);
}

bool inside_method() {
  if (sc_core::sc_get_status() != sc_core::SC_RUNNING) return false;
  const sc_core::sc_process_handle process = sc_core::sc_get_current_process_handle();
  return process.valid() && process.proc_kind() == sc_core::SC_METHOD_PROC_;
}

}  // namespace hcasim::support
