// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include <hcasim/sim/nearest.hpp>
#include <hcasim/sim/run.hpp>
#include <hcasim/sim/trace.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>

#include "commands.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "sim/record/output_directory.hpp"
#include "sim/record/statistics_json.hpp"
#include "sim/record/summary.hpp"

namespace hcasim::tools {
namespace {

namespace fs = std::filesystem;

/// The folder of `--out`. One that was made for a run that then failed is taken away again.
class ResultFolder {
 public:
  explicit ResultFolder(const std::string& path) {
    if (path.empty()) return;
    const bool existed = fs::exists(path);
    folder_.emplace(path);
    if (!existed) made_ = path;
  }
  ~ResultFolder() {
    std::error_code ignored;
    if (!made_.empty()) fs::remove(made_, ignored);  // only an empty folder can be removed
  }
  ResultFolder(const ResultFolder&) = delete;
  ResultFolder& operator=(const ResultFolder&) = delete;

  std::string completions_csv() const { return folder_ ? folder_->completions_csv() : fs::path(); }

  void write(const sim::RunStatistics& statistics, const sim::SystemConfig& config) const {
    if (!folder_) return;
    folder_->write("config.toml", sim::print_effective(config));
    folder_->write("stats.json", sim::to_json(statistics));
  }

 private:
  std::optional<sim::OutputDirectory> folder_;
  fs::path made_;
};

/// A configuration for a node that the trace does not have is a slip, not a wish.
void check_nodes(const std::string& trace, const sim::SystemConfig& config) {
  const sim::TraceReader reader{fs::path(trace)};
  std::vector<std::string> names;
  for (const sim::NameId node : reader.nodes()) names.emplace_back(reader.names().text(node));
  for (const auto& [name, node] : config.overrides) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    throw sim::InputError("configuration of node." + name, 0, 0, "a node of " + trace, name,
                          sim::nearest(name, names));
  }
}

/// Finds out before the run, not after it, that a file cannot be written.
void check_writable(const std::string& path, const std::string& trace) {
  if (path.empty()) return;
  std::error_code ignored;
  if (fs::equivalent(path, trace, ignored)) {
    throw sim::InputError("--pcap", 0, 0, "a file other than the trace", path);
  }
  const std::string beside = path + ".tmp";
  std::FILE* file = std::fopen(beside.c_str(), "ab");
  if (file == nullptr) throw sim::OutputError(path, std::strerror(errno));
  std::fclose(file);
  fs::remove(beside, ignored);
}

struct TimedResult {
  sim::RunResult result;
  double seconds;
};

TimedResult run_timed(const RunCommand& command, const sim::SystemConfig& config,
                      const ResultFolder& folder) {
  sim::RunOptions options;
  options.trace = command.trace;
  options.seed = command.seed;
  options.run_ahead = !command.no_run_ahead;
  options.completions_csv = folder.completions_csv();
  options.pcap = command.pcap;
  if (progress_is_wanted()) options.progress = show_progress;
  const auto begin = std::chrono::steady_clock::now();
  TimedResult timed{sim::run_trace(options, config), 0};
  timed.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return timed;
}

std::string report(const RunCommand& command, const TimedResult& timed) {
  if (command.json) return sim::to_short_json(timed.result.statistics);
  std::ostringstream text;
  sim::print_summary(text, timed.result.statistics, {timed.seconds, timed.result.engine_events});
  return text.str();
}

/// What a person should know who looks at the results.
void print_notes(const sim::RunResult& result) {
  for (const std::string& refusal : result.refusals) {
    complain(refusal, kGood);
  }
  if (result.posts_refused != 0) {
    std::fprintf(stderr, "hcasim: %ju work requests were refused by the verbs they were given to\n",
                 static_cast<std::uintmax_t>(result.posts_refused));
  }
  if (result.late_controls != 0) {
    std::fprintf(stderr, "hcasim: %ju control operations began after their time\n",
                 static_cast<std::uintmax_t>(result.late_controls));
  }
}

int run(const RunCommand& command, const sim::SystemConfig& config, const ResultFolder& folder) {
  const TimedResult timed = run_timed(command, config, folder);
  clear_progress();
  folder.write(timed.result.statistics, config);
  write_stdout(report(command, timed));
  print_notes(timed.result);
  if (timed.result.failure.empty()) return kGood;
  return complain(timed.result.failure.c_str(), kRunFailed);
}

}  // namespace

int run_command(const RunCommand& command) {
  const sim::SystemConfig config = sim::load_config(command.sources);
  check_nodes(command.trace, config);
  check_writable(command.pcap, command.trace);
  const ResultFolder folder(command.out);
  try {
    return run(command, config, folder);
  } catch (const sim::InputError&) {
    clear_progress();
    throw;
  } catch (const std::exception& error) {
    // Whatever fails from here on fails a run that had begun. It ends here, since the address
    // sanitizer cannot follow a second exception after the kernel's coroutines have run.
    clear_progress();
    return complain(error.what(), kRunFailed);
  }
}

}  // namespace hcasim::tools
