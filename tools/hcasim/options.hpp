// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What the command line asks for, free of the library that parses it.
#pragma once

#include <hcasim/hw/time.hpp>
#include <hcasim/sim/config.hpp>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace hcasim::tools {

/// Exit statuses of the program.
inline constexpr int kGood = 0;
inline constexpr int kRunFailed = 1;
inline constexpr int kBadInput = 2;

/// `hcasim config`
struct ConfigCommand {
  sim::ConfigSources sources;
  bool markdown = false;  ///< the reference of all keys instead of the values
};

/// `hcasim import`
struct ImportCommand {
  std::vector<std::string> captures;
  std::string trace;
  std::optional<hw::Time> window;
  std::string receives = "ahead";
  std::string timing = "captured";
  std::vector<std::string> assumptions;  ///< KEY=VALUE
  bool json = false;
};

/// `hcasim run`
struct RunCommand {
  std::string trace;
  sim::ConfigSources sources;
  std::uint64_t seed = 1;
  hw::Time measure_from = 0;
  std::string out;     ///< folder for the results; empty: none
  std::string pcap;    ///< file for the packets; empty: none
  std::string ftrace;  ///< file for the tracepoints; empty: none
  bool json = false;
  bool no_run_ahead = false;
  std::string receive_queue = "model";  ///< model, rtl or lockstep
  std::string record_rq;                ///< files for their traffic; empty: none
  std::vector<std::string> rtl;         ///< plug-ins for the latter two; none: our own
  std::string rq_coverage;              ///< file for their functional coverage; empty: none
};

/// `hcasim cosim`
struct CosimCommand {
  std::uint64_t cycles = 200'000;  ///< of each profile
  std::uint64_t seed = 1;
  std::vector<std::string> profiles;   ///< empty: all
  std::vector<std::string> libraries;  ///< plug-ins with RTL; empty: those built along
  std::string compare = "cycle";
  std::string replay;          ///< stimulus to replay in place of random runs; empty: none
  std::string out;             ///< folder for the results; empty: none
  std::optional<double> goal;  ///< functional coverage to reach, in percent
};

/// `--help` or `--version`: a text for stdout and nothing else to do.
struct PrintCommand {
  std::string text;
};

using Command = std::variant<PrintCommand, ConfigCommand, CosimCommand, ImportCommand, RunCommand>;

/// A command line that cannot be understood; what() is one line.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// @throws UsageError
Command parse_command_line(int argc, const char* const* argv);

}  // namespace hcasim::tools
