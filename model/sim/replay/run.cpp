// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hcasim/sim/run.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hca/receive_queue_port.hpp"
#include "hcasim/sim/input_error.hpp"
#include "sim/record/recorder.hpp"
#include "sim/record/text.hpp"
#include "sim/replay/checked_trace.hpp"
#include "sim/replay/data_process.hpp"
#include "sim/replay/line_error.hpp"
#include "sim/replay/measured_span.hpp"
#include "sim/replay/node_objects.hpp"
#include "sim/replay/run_times.hpp"
#include "sim/replay/run_watchers.hpp"
#include "sim/replay/saturating_time.hpp"
#include "sim/replay/set_up.hpp"
#include "sim/replay/system_statistics.hpp"
#include "sim/replay/trace_source.hpp"
#include "sim/system/system.hpp"

namespace hcasim::sim {

namespace {

// FILE:LINE: at T ns, node N: WHY
std::string describe(const std::string& file, const Mishap& mishap) {
  std::string text = file;
  if (mishap.line != 0) text += ':' + std::to_string(mishap.line);
  text += ": at ";
  append_ns(text, mishap.at);
  return text + " ns, node " + mishap.node + ": " + mishap.why;
}

// What messages call the trace.
const std::string& name_of_trace(const RunOptions& options) {
  return options.trace_name.empty() ? options.trace : options.trace_name;
}

// The index of the node whose host node `index` shares.
std::optional<std::size_t> host_of(const CheckedTrace& trace, std::size_t index) {
  if (trace.hosts()[index] == trace.nodes()[index]) return {};
  return std::ranges::find(trace.nodes(), trace.hosts()[index]) - trace.nodes().begin();
}

// One replay from the reading of the head to the statistics.
class Replay {
 public:
  Replay(const RunOptions& options, const SystemConfig& config, const CheckedTrace& trace)
      : options_(options),
        config_(config),
        trace_name_(name_of_trace(options)),
        trace_(trace),
        patience_(patience_with(trace, config)),
        reader_(std::filesystem::path(options.trace), trace_name_),
        directory_(trace.names()),
        watchers_(options),
        receive_queues_(options.receive_queue) {}

  RunResult run();
  /// The plug-ins that simulate receive queues.
  std::string libraries() const { return receive_queues_.library_names(); }
  /// What led to a fault in a receive-queue unit is kept, though the run leaves nothing else.
  void keep_recordings() { receive_queues_.write_recordings(nullptr); }

 private:
  void build();
  void begin();
  void introduce();
  void simulate();
  bool run_until(hw::Time end);
  bool run_in_steps(hw::Time end);
  bool output_failed() const;
  bool all_finished() const;
  bool all_settled() const;
  bool all_delivered() const;
  bool everything_read() const;
  std::uint64_t work_done() const;
  bool sends_new_packets();
  hw::Time next_timed() const;
  void tear_down();
  std::string stuck() const;
  void append_process(const DataProcess& process, RunResult& out) const;
  hw::Time end_of_results() const;
  RunResult result();
  void append_comparison(RunResult& out) const;

  const RunOptions& options_;
  const SystemConfig& config_;
  const std::string& trace_name_;
  const CheckedTrace& trace_;
  hw::Time patience_;
  TraceReader reader_;
  ObjectDirectory directory_;
  std::unique_ptr<Recorder> recorder_;
  RunWatchers watchers_;              // outlives the devices that report to it
  ReceiveQueueMaker receive_queues_;  // outlives the units that it knows
  // These outlive the system, in which events of theirs may wait when a run is given up.
  std::vector<std::unique_ptr<TraceSource>> sources_;
  std::vector<std::unique_ptr<DataProcess>> processes_;
  std::unique_ptr<System> system_;
  std::vector<std::unique_ptr<NodeObjects>> objects_;
  MeasuredSpan measured_;
  hw::Time epoch_ = 0;
  hw::Time measure_from_ = 0;
  std::int64_t new_packets_ = 0;  // the most that were seen
  bool partial_ = false;
  std::string failure_;  // why the trace did not come to its end
};

bool interrupted(const RunOptions& options) {
  return options.interrupted != nullptr && options.interrupted();
}

void Replay::build() {
  SystemOptions options;
  for (std::size_t i = 0; i < trace_.nodes().size(); ++i) {
    options.nodes.emplace_back(std::string(trace_.names().text(trace_.nodes()[i])),
                               host_of(trace_, i));
  }
  options.seed = options_.seed;
  options.run_ahead = options_.run_ahead;
  options.receive_queues = &receive_queues_;
  system_ = std::make_unique<System>(config_, options);
  RecorderOptions recording{.completions_csv = options_.completions_csv,
                            .outputs = options_.outputs};
  for (std::size_t i = 0; i < system_->size(); ++i) {
    recording.time_to_arrive =
        std::max(recording.time_to_arrive, time_to_arrive(system_->node(i).config()));
    for (std::size_t j = 0; j < system_->size(); ++j) {
      recording.reorder_window = std::max(recording.reorder_window, 4 * system_->apart(i, j));
    }
  }
  recorder_ = std::make_unique<Recorder>(recording);
  for (std::size_t i = 0; i < system_->size(); ++i) {
    objects_.push_back(std::make_unique<NodeObjects>(system_->node(i), directory_));
    objects_.back()->set_default_names(trace_.names().find(kDefaultCq),
                                       trace_.names().find(kDefaultMr));
    directory_.add(trace_.nodes()[i], *objects_.back());
    sources_.emplace_back();
    NodeRecorder& node = recorder_->add_node(options.nodes[i].name);
    system_->node(i).engine().name_units(options.nodes[i].name);
    processes_.push_back(std::make_unique<DataProcess>(*objects_[i], directory_, &node));
    system_->node(i).adapter().adapter().set_observer(&node);
    watchers_.watch(system_->node(i), i);
  }
}

void Replay::begin() {
  if (const int error = system_->start_devices(); error != 0) {
    throw RunError("a device could not be started: errno " + std::to_string(-error));
  }
  const std::uint64_t set_up = SetUp(*system_, directory_, trace_name_).run(reader_);
  introduce();
  epoch_ = (system_->now() / hw::kMicrosecond + 1) * hw::kMicrosecond;
  measure_from_ = later(epoch_, options_.measure_from);
  recorder_->set_epoch(epoch_, measure_from_);
  watchers_.set_epoch(epoch_);
  system_->begin_faults(epoch_);
  for (std::size_t i = 0; i < system_->size(); ++i) {
    sources_[i] = std::make_unique<TraceSource>(options_.trace, trace_.nodes()[i], set_up);
    processes_[i]->start(*sources_[i], epoch_);
  }
}

// News of a node takes as long as the shortest packet: nodes may run apart by no more.
void Replay::introduce() {
  for (std::size_t i = 0; i < system_->size(); ++i) {
    processes_[i]->set_post_counts(trace_.posts(i));
    for (std::uint32_t j = 0; j < system_->size(); ++j) {
      if (i != j) processes_[i]->add_peer(j, *processes_[j], system_->apart(i, j));
    }
  }
}

bool Replay::output_failed() const {
  return recorder_->output_failed() || watchers_.failed();
}

bool Replay::all_finished() const {
  return std::ranges::all_of(processes_, [](const auto& process) { return process->finished(); });
}

// Nobody says when messages of UC and UD have arrived, and not all of them do.
bool Replay::all_delivered() const {
  return std::ranges::none_of(objects_,
                              [](const auto& objects) { return objects->has_unreliable(); });
}

bool Replay::all_settled() const {
  return std::ranges::all_of(processes_, [](const auto& process) { return process->settled(); }) &&
         recorder_->last_acknowledgement() != hw::kNever;
}

bool Replay::everything_read() const {
  return std::ranges::all_of(processes_,
                             [](const auto& process) { return process->read_everything(); });
}

std::uint64_t Replay::work_done() const {
  std::uint64_t done = 0;
  for (const auto& process : processes_) {
    done += process->completions() + process->posts() + process->controls();
  }
  return done;
}

// A long message on a slow link takes longer than retries. What is sent again for ever adds
// nothing.
bool Replay::sends_new_packets() {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < system_->size(); ++i) sum += new_packets(system_->node(i));
  const bool more = sum > new_packets_;
  if (more) new_packets_ = sum;
  return more;
}

hw::Time Replay::next_timed() const {
  hw::Time next = hw::kNever;
  for (const auto& process : processes_) next = std::min(next, process->next_timed());
  return next;
}

// The first thing that went wrong, if anything did, and what waits for ever.
std::string Replay::stuck() const {
  const Mishap* first = nullptr;
  Mishap waiting;
  for (const auto& process : processes_) {
    const Mishap* const failure = process->first_failure();
    if (failure != nullptr && (first == nullptr || failure->at < first->at)) first = failure;
    if (waiting.why.empty() && !process->finished()) waiting = process->stuck_because();
  }
  waiting.at = system_->now() - epoch_;
  const std::string end = "the trace does not come to its end: ";
  if (first == nullptr) {
    waiting.why = end + "this line " + waiting.why;
    return describe(trace_name_, waiting);
  }
  return describe(trace_name_, *first) + "; " + end + "line " + std::to_string(waiting.line) +
         " of node " + waiting.node + ' ' + waiting.why;
}

// Stops on the way where measuring begins.
bool Replay::run_until(hw::Time end) {
  if (!measured_.begun() && end > measure_from_) {
    if (measure_from_ > epoch_) run_in_steps(measure_from_);
    if (interrupted(options_)) return true;
    measured_.begin(*system_);
  }
  return run_in_steps(end);
}

// Runs to `end` in steps that take little time on a wall clock, since between them it is asked
// whether to go on. The simulation does not depend on them.
bool Replay::run_in_steps(hw::Time end) {
  if (options_.interrupted == nullptr) return system_->run_until(end);
  constexpr hw::Time kStep = 100 * hw::kMicrosecond;
  hw::Time length = kStep;
  hw::Time step = std::max(epoch_, system_->now());
  bool more = true;
  do {
    const hw::Time before = system_->now();
    step = std::min(end, step + length);
    more = system_->run_until(step);
    // Where nothing happens, no step is long.
    length = system_->now() == before ? 2 * length : kStep;
  } while (more && step < end && !options_.interrupted());
  return more;
}

// Runs slice by slice, to see whether it still gets anywhere. It ends with the slice in which the
// last operation completed, so that what has been counted does not depend on how far one node ran
// ahead of another.
void Replay::simulate() {
  hw::Time progressed_at = epoch_;
  std::uint64_t done = 0;
  hw::Time end = epoch_ + kSlice;
  for (;;) {
    const bool idle = !run_until(end);
    if (work_done() != done) {
      done = work_done();
      progressed_at = end;
      sends_new_packets();
    }
    if (options_.progress != nullptr) options_.progress(end - epoch_, done);
    if (output_failed()) return;
    if ((all_finished() && (idle || all_delivered())) || (idle && all_settled())) return;
    if (interrupted(options_)) {
      partial_ = true;
      return;
    }
    const hw::Time fruitless = next_timed() == hw::kNever ? end - progressed_at : 0;
    if (!everything_read()) {
      const hw::Time at = idle ? system_->now() : end;
      if (idle || fruitless > kPatienceWithWindow) {
        for (auto& process : processes_) process->widen(at);
      }
    } else if (!idle && fruitless > patience_ && sends_new_packets()) {
      progressed_at = end;
    } else if (idle || fruitless > patience_) {
      // Timers of the driver may go on for longer than anything that is under way.
      if (!all_finished() && !all_settled()) failure_ = stuck();
      return;
    }
    end = std::max(end, system_->now()) +
          std::clamp((end - progressed_at) / 2, kSlice, kLongestSlice);
  }
}

hw::Time Replay::end_of_results() const {
  hw::Time end = std::max(epoch_, recorder_->last_acknowledgement());
  if (end == hw::kNever) end = epoch_;
  for (const auto& process : processes_) end = std::max(end, process->last_activity());
  return partial_ || !failure_.empty() ? std::max(end, system_->now()) : end;
}

RunResult Replay::result() {
  if (!measured_.begun()) measured_.begin(*system_);
  const hw::Time end = end_of_results();
  const bool cut_short = partial_ || !failure_.empty();
  if (end < measure_from_ && !cut_short) {
    failure_ = trace_name_ + ": the run ended at ";
    append_ns(failure_, end - epoch_);
    failure_ += " ns, before measuring began: there are no results";
  }
  RunResult out;
  recorder_->close(end);
  watchers_.close();
  out.statistics = recorder_->statistics();
  out.statistics.measured_from = options_.measure_from;
  out.statistics.seed = options_.seed;
  out.statistics.partial = cut_short;
  out.failure = failure_;
  measured_.append_to(out, *system_, end - measure_from_);
  for (const auto& process : processes_) append_process(*process, out);
  out.kernel_activations = system_->conductor().activations();
  return out;
}

void Replay::append_process(const DataProcess& process, RunResult& out) const {
  out.posts_refused += process.counters().posts_refused;
  out.late_controls += process.late_controls();
  for (const Mishap& refusal : process.refusals()) {
    out.refusals.push_back(describe(trace_name_, refusal));
  }
}

// A comparison that missed something is no success.
void Replay::append_comparison(RunResult& out) const {
  const hca::LockstepCoverage coverage = receive_queues_.coverage();
  out.receive_queue = {coverage.compared, coverage.not_compared, coverage.skipped, coverage.takes};
  if (out.failure.empty()) out.failure = too_little(coverage);
  out.receive_queue_coverage = receive_queues_.coverage_table();
  if (out.failure.empty()) out.failure = receive_queues_.first_fault();
}

// What is left is taken down by its driver, as a program that ends would have it.
void Replay::tear_down() {
  for (std::size_t i = 0; i < system_->size(); ++i) {
    system_->node(i).adapter().adapter().set_observer(nullptr);
    RunWatchers::leave(system_->node(i));
  }
  for (auto& process : processes_) process->stop();
  for (std::size_t i = 0; i < system_->size(); ++i) {
    system_->run_task_to_its_end(i, [&, i] { objects_[i]->tear_down(); });
  }
  system_->run_until(hw::kNever);  // no queue pair is left that could go on without end
}

RunResult Replay::run() {
  build();
  begin();
  const std::uint64_t activations = system_->conductor().activations();
  simulate();
  RunResult out = result();
  if (!partial_) tear_down();  // which would let the rest of the run happen
  append_comparison(out);
  receive_queues_.write_recordings(options_.outputs);
  out.kernel_activations -= activations;
  return out;
}

}  // namespace

RunResult run_trace(const RunOptions& options, const SystemConfig& config) {
  const std::string& name = name_of_trace(options);
  const CheckedTrace trace(options.trace, name, options.interrupted);
  std::optional<Replay> replay;
  try {
    replay.emplace(options, config, trace);
    return replay->run();
  } catch (const hca::TooManyReceiveQueues& error) {
    if (replay->libraries().empty()) throw RunError(name + ": " + error.what());
    throw InputError(name, 0, 0,
                     "no more queue pairs and shared receive queues of a node at a time than " +
                         std::to_string(error.queues()) + ", the Queues of " + replay->libraries(),
                     "");
  } catch (const hca::LockstepMismatch&) {
    replay->keep_recordings();
    throw;
  } catch (const hca::RtlFault&) {
    replay->keep_recordings();
    throw;
  } catch (const LineError& error) {
    throw RunError(describe(name, error.mishap()));
  } catch (const SimulationError& error) {
    throw RunError(name + ": " + error.what());
  }
}

}  // namespace hcasim::sim
