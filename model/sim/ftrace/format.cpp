// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/ftrace/format.hpp"

#include <fmt/format.h>

#include <iterator>

namespace hcasim::sim::ftrace {
namespace {

/// Prints what a layout names.
class Printer {
 public:
  explicit Printer(std::string& to) : to_(to) {}

  Printer& text(std::string_view literal) {
    to_ += literal;
    return *this;
  }
  Printer& rest(std::string_view words) { return text(words); }
  Printer& boolean(bool value) { return text(value ? "true" : "false"); }
  template <typename T>
  Printer& decimal(T value) {
    fmt::format_to(std::back_inserter(to_), "{}", value);
    return *this;
  }
  template <typename T>
  Printer& hex(T value) {
    fmt::format_to(std::back_inserter(to_), "{:x}", value);
    return *this;
  }
  template <typename T>
  Printer& hex2(T value) {
    fmt::format_to(std::back_inserter(to_), "{:02x}", value);
    return *this;
  }
  Printer& pointer(std::uint64_t value) {
    fmt::format_to(std::back_inserter(to_), "{:016x}", value);
    return *this;
  }
  Printer& wr_opcode(std::uint32_t value) { return name(wr_opcode_name(value), value); }
  Printer& wc_opcode(std::uint32_t value) { return name(wc_opcode_name(value), value); }

 private:
  Printer& name(std::string_view known, std::uint32_t value) {
    return known.empty() ? text("0x").hex(value) : text(known);
  }

  std::string& to_;
};

}  // namespace

void append_text(std::string& to, const Event& event) {
  to += '[';
  to += event.dev;
  to += ']';
  Printer printer(to);
  std::visit([&](const auto& fields) { fields.layout(fields, printer); }, event.fields);
}

void append_line(std::string& to, const Context& context, hw::Time at, const Event& event) {
  // Interrupts on, nothing pending, no interrupt, preemption and migration allowed.
  constexpr std::string_view kFlags = ".....";
  fmt::format_to(std::back_inserter(to),
                 "{:>16}-{:<7} [{:03}] {} {:5}.{:06}: {}: ", context.task.substr(0, kLongestTask),
                 context.pid, context.cpu, kFlags, at / hw::kSecond,
                 at % hw::kSecond / hw::kMicrosecond, name_of(event.kind));
  append_text(to, event);
  to += '\n';
}

std::string_view file_header() {
  return "# tracer: nop\n"
         "#\n"
         "#                                _-----=> irqs-off/BH-disabled\n"
         "#                               / _----=> need-resched\n"
         "#                              | / _---=> hardirq/softirq\n"
         "#                              || / _--=> preempt-depth\n"
         "#                              ||| / _-=> migrate-disable\n"
         "#                              |||| /     delay\n"
         "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
         "#              | |         |   |||||     |         |\n";
}

}  // namespace hcasim::sim::ftrace
