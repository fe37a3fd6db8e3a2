// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hcasim/hw/time.hpp"
#include "sim/ftrace/events.hpp"

/// Tracepoints as the kernel's text file has them.
namespace hcasim::sim::ftrace {

/// Longest task name that the kernel keeps, in bytes.
inline constexpr std::size_t kLongestTask = 15;

/// Who was running, as a line tells it.
struct Context {
  std::string_view task;  ///< cut to kLongestTask
  std::uint32_t pid = 0;
  std::uint32_t cpu = 0;
};

/// Appends what follows `NAME: `.
void append_text(std::string& to, const Event& event);
/// Appends a whole line, its end included.
/// @param at not negative; the line has whole us
void append_line(std::string& to, const Context& context, hw::Time at, const Event& event);
/// The lines at the top of a file.
std::string_view file_header();

}  // namespace hcasim::sim::ftrace
