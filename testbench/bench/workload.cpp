// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "workload.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "allocation_count.hpp"
#include "cpu_clock.hpp"
#include "hcasim/sim/config.hpp"
#include "sim/record/recorder.hpp"
#include "sim/replay/data_process.hpp"
#include "sim/replay/set_up.hpp"
#include "sim/system/system.hpp"
#include "support/resident_memory.hpp"
#include "traffic_source.hpp"

namespace hcasim::bench {

namespace {

constexpr std::uint64_t kWarmUp = 10'000;

/// Holds the lines that make the nodes and queues, as the trace that they are.
class SetUpFile {
 public:
  explicit SetUpFile(const Workload& workload)
      : path_(std::filesystem::temp_directory_path() /
              ("hcasim-bench-" + std::to_string(getpid()) + ".trace")) {
    std::ofstream out(path_);
    out << "hcasim-trace 1\n";
    for (const NodeTraffic& node : workload.nodes) out << "node " << node.name << '\n';
    for (const std::string& line : workload.set_up) out << line << '\n';
  }
  ~SetUpFile() { std::filesystem::remove(path_); }
  SetUpFile(const SetUpFile&) = delete;
  SetUpFile& operator=(const SetUpFile&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Allocations when the first messages were through and when the last was read.
struct AllocationMarks {
  std::uint64_t at_warm_up = 0;
  std::uint64_t at_end = 0;
};

double peak_memory_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

/// A system with one workload on it.
class Bench {
 public:
  explicit Bench(const Workload& workload)
      : workload_(workload),
        set_up_(workload),
        reader_(set_up_.path(), "workload"),
        config_(sim::load_config({})),
        system_(config_, {node_names(workload)}),
        recorder_({}),
        directory_(reader_.names()) {
    for (std::size_t i = 0; i < workload.nodes.size(); ++i) add_node(i);
    if (system_.start_devices() != 0) throw std::runtime_error("the devices do not start");
    sim::SetUp(system_, directory_, "workload").run(reader_);
    for (const NodeTraffic& traffic : workload.nodes) sources_.push_back(source(traffic));
  }

  Outcome run();

 private:
  static std::vector<sim::NodeOptions> node_names(const Workload& workload) {
    std::vector<sim::NodeOptions> names;
    for (const NodeTraffic& node : workload.nodes) names.emplace_back(node.name);
    return names;
  }

  void add_node(std::size_t index);
  std::unique_ptr<TrafficSource> source(const NodeTraffic& traffic);
  TrafficSource::Template work(bool is_send, const std::vector<std::string>& queues) const;
  std::uint64_t engine_events();
  bool finished() const;
  void simulate(hw::Time epoch);

  const Workload& workload_;
  SetUpFile set_up_;
  sim::TraceReader reader_;
  sim::SystemConfig config_;
  sim::System system_;
  sim::Recorder recorder_;
  sim::ObjectDirectory directory_;
  std::vector<std::unique_ptr<sim::NodeObjects>> objects_;
  std::vector<std::unique_ptr<sim::DataProcess>> processes_;
  std::vector<std::unique_ptr<TrafficSource>> sources_;
  AllocationMarks marks_;
};

void Bench::add_node(std::size_t index) {
  const sim::NameTable& names = reader_.names();
  const std::string& name = workload_.nodes[index].name;
  objects_.push_back(std::make_unique<sim::NodeObjects>(system_.node(index), directory_));
  sim::NodeObjects& objects = *objects_.back();
  objects.set_default_names(names.find(sim::kDefaultCq), names.find(sim::kDefaultMr));
  directory_.add(names.find(name), objects);
  sim::NodeRecorder& recorder = recorder_.add_node(name);
  processes_.push_back(std::make_unique<sim::DataProcess>(objects, directory_, &recorder));
  system_.node(index).adapter().adapter().set_observer(&recorder);
}

// The first node that sends tells when the messages of the warm-up are through.
std::unique_ptr<TrafficSource> Bench::source(const NodeTraffic& traffic) {
  std::function<void(std::uint64_t)> on_send;
  const bool first = std::ranges::none_of(sources_, [](const auto& it) { return it->sends(); });
  if (first && traffic.sends != 0) {
    const std::uint64_t warm_up = kWarmUp * traffic.sends / workload_.messages;
    on_send = [this, warm_up](std::uint64_t sends) {
      if (sends == warm_up) marks_.at_warm_up = allocations();
      marks_.at_end = allocations();
    };
  }
  return std::make_unique<TrafficSource>(workload_, traffic, work(true, traffic.send_queues),
                                         work(false, traffic.receive_queues), std::move(on_send));
}

TrafficSource::Template Bench::work(bool is_send, const std::vector<std::string>& queues) const {
  const sim::NameTable& names = reader_.names();
  TrafficSource::Template out;
  sim::WorkItem& item = out.item;
  item.is_send = is_send;
  item.opcode = workload_.opcode;
  item.num_sge = 1;
  item.remote_named = true;
  item.remote_mr = names.find(sim::kDefaultMr);
  item.sges[0] = {item.remote_mr, is_send ? workload_.bytes : workload_.receive_bytes, 0};
  if (is_send && workload_.inline_data) item.flags |= sim::kInline;
  for (const std::string& queue : queues) out.queues.push_back(names.find(queue));
  return out;
}

std::uint64_t Bench::engine_events() {
  std::uint64_t events = 0;
  for (std::size_t i = 0; i < system_.size(); ++i) events += system_.node(i).engine().events_run();
  if (fabric::SwitchModule* network_switch = system_.network_switch()) {
    events += network_switch->engine_module().engine().events_run();
  }
  return events;
}

bool Bench::finished() const {
  return std::ranges::all_of(processes_, [](const auto& process) { return process->finished(); });
}

void Bench::simulate(hw::Time epoch) {
  hw::Time end = epoch;
  while (!finished()) {
    end += hw::kMillisecond;
    if (system_.run_until(end) || finished()) continue;
    const auto stuck = std::ranges::find_if(processes_, [](auto& it) { return !it->finished(); });
    throw std::runtime_error((*stuck)->stuck_because().why);
  }
}

Outcome Bench::run() {
  const hw::Time epoch = (system_.now() / hw::kMicrosecond + 1) * hw::kMicrosecond;
  recorder_.set_epoch(epoch);
  const std::uint64_t events_before = engine_events();
  const std::uint64_t activations_before = system_.conductor().activations();
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    processes_[i]->start(*sources_[i], epoch + workload_.nodes[i].start_after);
  }
  const double begin = cpu_seconds();
  simulate(epoch);
  Outcome out;
  out.seconds = cpu_seconds() - begin;
  const auto messages = static_cast<double>(workload_.messages);
  out.engine_events_per_message = static_cast<double>(engine_events() - events_before) / messages;
  out.kernel_events_per_message =
      static_cast<double>(system_.conductor().activations() - activations_before) / messages;
  if (workload_.messages > kWarmUp) {
    out.allocations_per_message = static_cast<double>(marks_.at_end - marks_.at_warm_up) /
                                  static_cast<double>(workload_.messages - kWarmUp);
  }
  hw::Time last = epoch;
  for (const auto& process : processes_) last = std::max(last, process->last_activity());
  out.simulated_messages_per_second = messages / (static_cast<double>(last - epoch) * 1e-12);
  out.peak_memory_mib = peak_memory_mib();
  return out;
}

}  // namespace

Outcome run_workload(const Workload& workload) {
  return Bench(workload).run();
}

double resident_bytes_when_idle(const Workload& workload) {
  const Bench bench(workload);
  return support::resident_bytes();
}

}  // namespace hcasim::bench
