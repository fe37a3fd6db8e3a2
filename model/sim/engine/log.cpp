// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/engine/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <systemc>

namespace hcasim::sim {

namespace {

spdlog::level::level_enum level_of(sc_core::sc_severity severity) {
  switch (severity) {
    case sc_core::SC_INFO:
      return spdlog::level::debug;
    case sc_core::SC_WARNING:
      return spdlog::level::warn;
    default:
      return spdlog::level::err;
  }
}

void log_report(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
  static const auto log = [] {
    auto made = spdlog::stderr_logger_st("systemc");
    made->set_pattern("hcasim: %v");
    return made;
  }();
  // What is thrown is reported by whoever catches it.
  if ((actions & sc_core::SC_THROW) == 0) {
    log->log(level_of(report.get_severity()), "{}: {}", report.get_msg_type(), report.get_msg());
  }
  sc_core::sc_report_handler::default_handler(report, actions & sc_core::SC_THROW);
}

}  // namespace

void route_kernel_reports() {
  sc_core::sc_report_handler::set_handler(log_report);
}

}  // namespace hcasim::sim
