// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hcasim/sim/run.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "hcasim/sim/input_error.hpp"
#include "sim/record/packet_recorder.hpp"
#include "sim/record/recorder.hpp"
#include "sim/replay/data_process.hpp"
#include "sim/replay/node_objects.hpp"
#include "sim/replay/set_up.hpp"
#include "sim/replay/system_statistics.hpp"
#include "sim/replay/trace_source.hpp"
#include "sim/system/system.hpp"

namespace hcasim::sim {

namespace {

// How long nothing may complete, while something still happens, before a run is given up: longer
// than any retry of the specification lasts, 8 tries of 4.096 us * 2^31 apart, which nobody sets.
constexpr hw::Time kPatience = 100 * hw::kSecond;
constexpr hw::Time kSlice = 10 * hw::kMillisecond;

// One replay from the reading of the head to the statistics.
class Replay {
 public:
  Replay(const RunOptions& options, const SystemConfig& config)
      : options_(options),
        config_(config),
        trace_name_(options.trace_name.empty() ? options.trace : options.trace_name),
        reader_(std::filesystem::path(options.trace), trace_name_),
        directory_(reader_.names()) {}

  RunResult run();

 private:
  void build();
  void begin();
  void simulate();
  bool run_until(hw::Time end);
  bool all_finished() const;
  bool everything_read() const;
  std::uint64_t work_done() const;
  hw::Time next_timed() const;
  void tear_down();
  [[noreturn]] void report_stuck() const;
  RunResult result();

  const RunOptions& options_;
  const SystemConfig& config_;
  std::string trace_name_;
  TraceReader reader_;
  ObjectDirectory directory_;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<PacketRecorder> packets_;
  std::unique_ptr<System> system_;
  std::vector<std::unique_ptr<NodeObjects>> objects_;
  std::vector<std::unique_ptr<TraceSource>> sources_;
  std::vector<std::unique_ptr<DataProcess>> processes_;
  std::vector<SystemSnapshot> at_epoch_;
  hw::Time epoch_ = 0;
  bool partial_ = false;
};

bool interrupted(const RunOptions& options) {
  return options.interrupted != nullptr && options.interrupted();
}

// Reads the whole trace once, so that a wrong line is reported before anything has run.
void check_trace(const RunOptions& options) {
  TraceReader reader(std::filesystem::path(options.trace), options.trace_name);
  const std::string& path = options.trace_name.empty() ? options.trace : options.trace_name;
  Operation operation;
  bool posting = false;
  while (reader.next(operation) && !interrupted(options)) {
    posting |= operation.verb == Verb::kPostSend || operation.verb == Verb::kPostRecv;
    if (posting && operation.verb == Verb::kConnect) {
      throw InputError(path, operation.line, 1, "connections before the first post", "connect", "");
    }
  }
}

void Replay::build() {
  SystemOptions options;
  for (const NameId name : reader_.nodes()) {
    options.nodes.emplace_back(reader_.names().text(name));
  }
  if (options.nodes.empty() || options.nodes.size() > 2) {
    throw InputError(trace_name_, 0, 0, "one node or two",
                     std::to_string(options.nodes.size()) + " nodes", "");
  }
  options.seed = options_.seed;
  options.run_ahead = options_.run_ahead;
  recorder_ = std::make_unique<Recorder>(
      RecorderOptions{.completions_csv = options_.completions_csv, .outputs = options_.outputs});
  if (!options_.pcap.empty()) {
    packets_ = std::make_unique<PacketRecorder>(options_.pcap, PacketRecorder::kReorderWindow,
                                                options_.outputs);
  }
  system_ = std::make_unique<System>(config_, options);
  for (std::size_t i = 0; i < system_->size(); ++i) {
    objects_.push_back(std::make_unique<NodeObjects>(system_->node(i), directory_));
    objects_.back()->set_default_names(reader_.names().find(kDefaultCq),
                                       reader_.names().find(kDefaultMr));
    directory_.add(reader_.nodes()[i], *objects_.back());
    sources_.emplace_back();
    NodeRecorder& node = recorder_->add_node(options.nodes[i]);
    processes_.push_back(std::make_unique<DataProcess>(*objects_[i], directory_, &node));
    system_->node(i).adapter().adapter().set_observer(&node);
    if (packets_ != nullptr) {
      system_->node(i).adapter().port().port().set_observer(&packets_->add_port());
    }
  }
}

void Replay::begin() {
  if (const int error = system_->start_devices(); error != 0) {
    throw RunError("a device could not be started: errno " + std::to_string(-error));
  }
  const std::uint64_t set_up = SetUp(*system_, directory_, trace_name_).run(reader_);
  epoch_ = (system_->now() / hw::kMicrosecond + 1) * hw::kMicrosecond;
  recorder_->set_epoch(epoch_);
  if (packets_ != nullptr) packets_->set_epoch(epoch_);
  for (std::size_t i = 0; i < system_->size(); ++i) {
    at_epoch_.push_back(snapshot(system_->node(i)));
    sources_[i] = std::make_unique<TraceSource>(options_.trace, reader_.nodes()[i], set_up);
    processes_[i]->start(*sources_[i], epoch_);
  }
}

bool Replay::all_finished() const {
  return std::ranges::all_of(processes_, [](const auto& process) { return process->finished(); });
}

bool Replay::everything_read() const {
  return std::ranges::all_of(processes_,
                             [](const auto& process) { return process->read_everything(); });
}

std::uint64_t Replay::work_done() const {
  std::uint64_t done = 0;
  for (const auto& process : processes_) done += process->completions() + process->posts();
  return done;
}

hw::Time Replay::next_timed() const {
  hw::Time next = hw::kNever;
  for (const auto& process : processes_) next = std::min(next, process->next_timed());
  return next;
}

void Replay::report_stuck() const {
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    if (processes_[i]->finished()) continue;
    const hw::Time at = system_->now() - epoch_;
    throw RunError("at " + std::to_string(at / 1000) + " ns, on node " +
                   std::string(reader_.names().text(reader_.nodes()[i])) +
                   ": the trace does not come to its end: " + processes_[i]->stuck_because());
  }
  throw RunError("the simulation does not come to its end");
}

// Runs to `end` in steps that take little time on a wall clock, since between them it is asked
// whether to go on. The simulation does not depend on them.
bool Replay::run_until(hw::Time end) {
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
    const bool more = run_until(end);
    if (work_done() != done) {
      done = work_done();
      progressed_at = end;
    }
    if (options_.progress != nullptr) options_.progress(end - epoch_, done);
    if (recorder_->output_failed() || (packets_ != nullptr && packets_->failed())) return;
    if (all_finished()) return;
    if (interrupted(options_)) {
      partial_ = true;
      return;
    }
    if (!more) {
      if (everything_read()) report_stuck();
      for (auto& process : processes_) process->widen();
    } else if (end - progressed_at > kPatience && next_timed() == hw::kNever) {
      report_stuck();
    }
    end = std::max(end, system_->now()) + std::max(kSlice, (end - progressed_at) / 2);
  }
}

RunResult Replay::result() {
  hw::Time end = epoch_;
  for (const auto& process : processes_) end = std::max(end, process->last_activity());
  if (partial_) end = std::max(end, system_->now());
  RunResult out;
  recorder_->close(end);
  if (packets_ != nullptr) packets_->close();
  out.statistics = recorder_->statistics();
  out.statistics.seed = options_.seed;
  out.statistics.partial = partial_;
  for (std::size_t i = 0; i < system_->size(); ++i) {
    append_statistics(system_->node(i), at_epoch_[i], end - epoch_, out.statistics);
    out.engine_events += system_->node(i).engine().events_run() - at_epoch_[i].engine_events;
    out.posts_refused += processes_[i]->counters().posts_refused;
  }
  out.kernel_activations = system_->conductor().activations();
  return out;
}

// What is left is taken down by its driver, as a program that ends would have it.
void Replay::tear_down() {
  for (std::size_t i = 0; i < system_->size(); ++i) {
    system_->node(i).adapter().adapter().set_observer(nullptr);
    system_->node(i).adapter().port().port().set_observer(nullptr);
    system_->run_task(i, [&, i] { objects_[i]->tear_down(); });
  }
}

RunResult Replay::run() {
  build();
  begin();
  const std::uint64_t activations = system_->conductor().activations();
  simulate();
  RunResult out = result();
  if (!partial_) tear_down();  // which would let the rest of the run happen
  out.kernel_activations -= activations;
  return out;
}

}  // namespace

RunResult run_trace(const RunOptions& options, const SystemConfig& config) {
  check_trace(options);
  try {
    return Replay(options, config).run();
  } catch (const SimulationError& error) {
    throw RunError(error.what());
  }
}

}  // namespace hcasim::sim
