// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include <hcasim/sim/nearest.hpp>
#include <hcasim/sim/run.hpp>
#include <hcasim/sim/trace.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <sstream>

#include "commands.hpp"
#include "interruption.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "receive_queue_options.hpp"
#include "sim/output/file_roles.hpp"
#include "sim/output/output_file.hpp"
#include "sim/record/output_directory.hpp"
#include "sim/record/statistics_json.hpp"
#include "sim/record/summary.hpp"
#include "trace_input.hpp"

namespace hcasim::tools {
namespace {

namespace fs = std::filesystem;

/// What a run leaves behind: the files of `--out`, `--pcap` and `--ftrace`, which get their names
/// together.
class Results {
 public:
  explicit Results(const RunCommand& command) {
    if (!command.out.empty()) folder_.emplace(command.out);
    // Found out before the run, not after it.
    if (!command.pcap.empty()) sim::OutputFile::check(command.pcap);
    if (!command.ftrace.empty()) sim::OutputFile::check(command.ftrace);
    if (!command.rq_coverage.empty()) sim::OutputFile::check(command.rq_coverage);
    if (!command.record_rq.empty()) sim::OutputFile::check(command.record_rq);
    if (folder_) sim::OutputFile::check(folder_->completions_csv());
  }

  sim::OutputSet& files() { return files_; }
  std::string completions_csv() const { return folder_ ? folder_->completions_csv() : fs::path(); }

  void write(const std::string& path, const std::string& text) {
    sim::OutputFile file(path, &files_);
    file.write(text);
    file.commit();
  }

  void commit(const sim::RunStatistics& statistics, const sim::SystemConfig& config) {
    if (folder_) {
      folder_->write("config.toml", sim::print_effective(config), &files_);
      folder_->write("stats.json", sim::to_json(statistics), &files_);
    }
    files_.commit();
  }

 private:
  std::optional<sim::OutputDirectory> folder_;
  sim::OutputSet files_;  // goes first, so that the folder is empty by then
};

void check_roles(const RunCommand& command) {
  sim::FileRoles roles;
  roles.reads("the trace", command.trace);
  roles.reads("the configuration", command.sources.file);
  for (const std::string& library : command.rtl) roles.reads("the RTL", library);
  if (!command.out.empty()) {
    roles.writes("--out", "the folder of --out", command.out);
    for (const char* name : {"stats.json", "completions.csv", "config.toml"}) {
      roles.writes("--out", name + std::string(" of --out"), fs::path(command.out) / name);
    }
  }
  if (!command.pcap.empty()) roles.writes("--pcap", "the packets", command.pcap);
  if (!command.ftrace.empty()) roles.writes("--ftrace", "the tracepoints", command.ftrace);
  if (!command.rq_coverage.empty()) {
    roles.writes("--rq-coverage", "the functional coverage", command.rq_coverage);
  }
  if (!command.record_rq.empty()) {
    roles.writes_for_nodes("--record-rq", "the stimulus", command.record_rq);
  }
}

/// A configuration for a node that the trace does not have is a slip, not a wish.
void check_nodes(const TraceInput& trace, const sim::SystemConfig& config) {
  const sim::TraceReader reader(fs::path(trace.path()), trace.name());
  std::vector<std::string> names;
  for (const sim::NameId node : reader.nodes()) names.emplace_back(reader.names().text(node));
  for (const auto& [name, node] : config.overrides) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    throw sim::InputError("configuration of node." + name, 0, 0, "a node of " + trace.name(), name,
                          sim::nearest(name, names));
  }
}

struct TimedResult {
  sim::RunResult result;
  double seconds;
};

TimedResult run_timed(const RunCommand& command, const TraceInput& trace,
                      const sim::SystemConfig& config, Results& results,
                      sim::RunObserver* observer) {
  sim::RunOptions options;
  options.trace = trace.path();
  options.trace_name = trace.name();
  options.seed = command.seed;
  options.measure_from = command.measure_from;
  options.run_ahead = !command.no_run_ahead;
  options.completions_csv = results.completions_csv();
  options.pcap = command.pcap;
  options.ftrace = command.ftrace;
  options.outputs = &results.files();
  options.interrupted = interrupted;
  options.observer = observer;
  options.receive_queue = receive_queue_choice(command.receive_queue, command.rtl);
  options.receive_queue.coverage = !command.rq_coverage.empty();
  options.receive_queue.record = command.record_rq;
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

/// How far the results rest on a comparison.
void print_comparison(const sim::ReceiveQueueComparison& done) {
  std::fprintf(stderr,
               "hcasim: lockstep: %ju cycles compared, %ju run and not compared, %ju skipped; %ju "
               "takes\n",
               static_cast<std::uintmax_t>(done.cycles_compared),
               static_cast<std::uintmax_t>(done.cycles_not_compared),
               static_cast<std::uintmax_t>(done.cycles_skipped),
               static_cast<std::uintmax_t>(done.takes));
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

int run(const RunCommand& command, const TraceInput& trace, const sim::SystemConfig& config,
        Results& results, sim::RunObserver* observer) {
  const TimedResult timed = run_timed(command, trace, config, results, observer);
  clear_progress();
  if (!command.rq_coverage.empty()) {
    results.write(command.rq_coverage, timed.result.receive_queue_coverage);
  }
  results.commit(timed.result.statistics, config);
  write_stdout(report(command, timed));
  print_notes(timed.result);
  if (command.receive_queue == "lockstep") print_comparison(timed.result.receive_queue);
  if (!timed.result.failure.empty()) return complain(timed.result.failure, kRunFailed);
  if (timed.result.statistics.partial) end_interrupted();
  return kGood;
}

}  // namespace

int run_command(const RunCommand& command, sim::RunObserver* observer) {
  const sim::SystemConfig config = sim::load_config(command.sources);
  check_roles(command);
  const TraceInput trace(command.trace);
  check_nodes(trace, config);
  Results results(command);
  try {
    return run(command, trace, config, results, observer);
  } catch (const sim::InputError&) {
    clear_progress();
    throw;
  } catch (const std::exception& error) {
    // Whatever fails from here on fails a run that had begun. It ends here, since the address
    // sanitizer cannot follow a second exception after the kernel's coroutines have run.
    clear_progress();
    return complain(reason_of(error), kRunFailed);
  }
}

}  // namespace hcasim::tools
