// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <hcasim/sim/nearest.hpp>

#include <array>
#include <cstdio>
#include <filesystem>
#include <span>
#include <vector>

#include "commands.hpp"
#include "import_report.hpp"
#include "output.hpp"
#include "sim/import/trace_from_capture.hpp"
#include "sim/output/file_roles.hpp"
#include "trace_input.hpp"
#include "tracepoint_report.hpp"

namespace hcasim::tools {
namespace {

/// The value whose name is `found`, of two.
template <typename T>
T choose(const char* option, const std::string& found, const std::array<std::string, 2>& names,
         const std::array<T, 2>& values) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (found == names[i]) return values[i];
  }
  throw sim::InputError(option, 0, 0, names[0] + " or " + names[1], found,
                        sim::nearest(found, names));
}

sim::ImportOptions options_of(const ImportCommand& command) {
  using sim::ReceivePolicy;
  using sim::TimingPolicy;
  sim::ImportOptions options;
  options.receives = choose<ReceivePolicy>("--receives", command.receives, {"ahead", "as-seen"},
                                           {ReceivePolicy::kAhead, ReceivePolicy::kAsSeen});
  options.timing = choose<TimingPolicy>("--timing", command.timing, {"captured", "asap"},
                                        {TimingPolicy::kCaptured, TimingPolicy::kAsap});
  for (const std::string& setting : command.assumptions) sim::set_assumption(options, setting);
  return options;
}

void check_roles(const ImportCommand& command) {
  sim::FileRoles roles;
  for (const std::string& capture : command.captures) roles.reads("the capture", capture);
  roles.writes("-o", "the trace", command.trace);
}

void warn_of_nothing(std::uint64_t nodes) {
  if (nodes == 0) std::fputs("hcasim: no queue pair was found: there is nothing to run\n", stderr);
}

int import_tracepoints(const ImportCommand& command, const sim::ImportOptions& options,
                       const TraceInput& input) {
  const sim::TracepointAnalysis analysis =
      sim::analyse_tracepoints(input.path(), input.name(), {options.tick_ps});
  const sim::TracepointImport result =
      sim::trace_from_tracepoints(analysis, options, command.trace);
  if (command.json) {
    write_stdout(tracepoint_json(analysis, result));
  } else {
    write_stdout(fmt::format(
        "{}trace          {}: nodes {}, connections {}, sends {} and {} made up, receives {}\n",
        tracepoint_summary(analysis, result), command.trace, result.nodes, result.connections,
        result.sends, result.made_up_sends, result.receives));
  }
  warn_of_nothing(result.nodes);
  return kGood;
}

int import_captures(const ImportCommand& command, const sim::ImportOptions& options,
                    std::span<const std::filesystem::path> captures) {
  const sim::CaptureAnalysis analysis =
      sim::analyse_captures(captures, command.window.value_or(sim::kTwinWindow));
  const sim::ImportResult result = sim::trace_from_capture(analysis, options, command.trace);
  if (command.json) {
    write_stdout(import_json(analysis));
  } else {
    write_stdout(
        fmt::format("{}trace          {}: nodes {}, connections {}, sends {}, receives {}\n",
                    import_summary(analysis), command.trace, result.nodes, result.connections,
                    result.sends, result.receives));
  }
  warn_of_nothing(result.nodes);
  return kGood;
}

}  // namespace

int run_command(const ImportCommand& command) {
  const sim::ImportOptions options = options_of(command);
  check_roles(command);
  if (command.captures.size() == 1) {
    const TraceInput input(command.captures.front());
    if (sim::is_tracepoint_text(input.path())) return import_tracepoints(command, options, input);
    // Under its own name in errors, unless it can be read no more.
    const std::filesystem::path capture = input.path();
    return import_captures(command, options, {&capture, 1});
  }
  const std::vector<std::filesystem::path> captures(command.captures.begin(),
                                                    command.captures.end());
  for (const std::filesystem::path& capture : captures) {
    if (std::filesystem::is_regular_file(capture) && sim::is_tracepoint_text(capture)) {
      throw sim::InputError(capture, 0, 0, "captures, since tracepoints are imported by themselves",
                            "tracepoints");
    }
  }
  return import_captures(command, options, captures);
}

}  // namespace hcasim::tools
