// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/ftrace/events.hpp"

/// Tracepoints read back from text: the kernel's text file, `trace-cmd report`, `perf script`.
namespace hcasim::sim::ftrace {

/// What a line is.
enum class LineKind : std::uint8_t {
  kEvent,
  kLost,     ///< the tracer's word that events were lost
  kHeader,   ///< a comment, a blank line, the number of CPUs
  kUnknown,  ///< none of these
};

/// Which program prints such lines.
enum class Form : std::uint8_t { kKernel, kTraceCmd, kPerf };

/// One line taken apart; the views are parts of it.
struct Line {
  LineKind kind = LineKind::kUnknown;
  Form form = Form::kKernel;
  std::string_view task;
  std::uint64_t pid = 0;
  std::uint64_t cpu = 0;
  std::uint64_t time = 0;       ///< ns; of a clock without unit its ticks
  bool ticks = false;           ///< `time` has no unit
  std::string_view event;       ///< name without its system; empty when the text does not begin so
  std::string_view text;        ///< behind the name
  std::size_t text_column = 0;  ///< of `text`, from 1
  std::uint64_t lost = 0;       ///< kLost: how many events; 0: not said
};

/// Takes a line apart. Any bytes are allowed.
Line parse_line(std::string_view line);

/// The text of an event is not what the kernel prints.
struct FieldError {
  std::size_t column = 0;  ///< from 1
  std::string expected;
  std::string found;
};

/// The fields of an event of this kind.
/// @param line as parse_line() gave it
/// @throws FieldError
Event parse_event(EventKind kind, const Line& line);

/// Its name for people.
std::string_view name_of(Form form);

}  // namespace hcasim::sim::ftrace
