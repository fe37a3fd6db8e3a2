// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "workload.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <stdexcept>

#include "allocation_count.hpp"
#include "cpu_clock.hpp"
#include "hcasim/sim/config.hpp"
#include "sim/record/recorder.hpp"
#include "sim/replay/data_process.hpp"
#include "sim/replay/set_up.hpp"
#include "sim/system/system.hpp"

namespace hcasim::bench {

namespace {

constexpr std::uint64_t kWarmUp = 10'000;

// Allocations when the first messages were through and when the last was read.
struct AllocationMarks {
  std::uint64_t at_warm_up = 0;
  std::uint64_t at_end = 0;
};

// The same operation again and again.
class Generator : public sim::OperationSource {
 public:
  Generator(const sim::WorkItem& item, const Workload& workload, AllocationMarks* marks)
      : item_(item), workload_(workload), marks_(marks) {}

  sim::SourceItem next(sim::WorkItem& work, const sim::Operation*& operation) override {
    operation = nullptr;
    if (made_ == workload_.messages) {
      if (marks_ != nullptr) marks_->at_end = allocations();
      return sim::SourceItem::kEnd;
    }
    if (made_ == kWarmUp && marks_ != nullptr) marks_->at_warm_up = allocations();
    ++made_;
    const bool last = made_ == workload_.messages;
    work = item_;
    work.line = made_;
    if (!turn(list_left_, workload_.post_list) && !last) work.flags |= sim::kMore;
    if (item_.is_send && !turn(unsignaled_left_, workload_.cq_moderation) && !last) {
      work.flags |= sim::kUnsignaled;
    }
    return sim::SourceItem::kWork;
  }

  // With one queue there is nothing to look for behind the lists that it takes next.
  std::uint32_t read_ahead() const override { return 2 * workload_.depth; }

 private:
  // True every `period` times.
  static bool turn(std::uint32_t& left, std::uint32_t period) {
    if (left == 0) left = period;
    return --left == 0;
  }

  sim::WorkItem item_;
  const Workload& workload_;
  AllocationMarks* marks_;
  std::uint64_t made_ = 0;
  std::uint32_t list_left_ = 0;
  std::uint32_t unsignaled_left_ = 0;
};

class NoWork : public sim::OperationSource {
 public:
  sim::SourceItem next(sim::WorkItem&, const sim::Operation*&) override {
    return sim::SourceItem::kEnd;
  }
};

struct Names {
  sim::NameTable table;
  sim::NameId cq = table.intern(sim::kDefaultCq);
  sim::NameId mr = table.intern(sim::kDefaultMr);
  sim::NameId a = table.intern("a");
  sim::NameId b = table.intern("b");
  sim::NameId q = table.intern("q");
};

sim::Operation connection(const Names& names, const Workload& workload) {
  sim::Operation operation;
  operation.reset(sim::Verb::kConnect);
  operation.node = names.a;
  operation.peer_node = names.b;
  operation.object = operation.peer_object = names.q;
  operation.set(sim::Arg::kMtu, 4096);
  operation.set(sim::Arg::kMaxSendWr, workload.depth);
  operation.set(sim::Arg::kMaxRecvWr, workload.depth);
  operation.set(sim::Arg::kMaxSendSge, 1);
  operation.set(sim::Arg::kMaxRecvSge, 1);
  return operation;
}

sim::WorkItem work_item(const Names& names, const Workload& workload, bool is_send) {
  sim::WorkItem item;
  item.is_send = is_send;
  item.opcode = workload.opcode;
  item.queue = names.q;
  item.num_sge = 1;
  item.sges[0] = {names.mr, workload.bytes, 0};
  if (is_send && workload.inline_data) item.flags |= sim::kInline;
  item.remote_named = true;
  item.remote_mr = names.mr;
  return item;
}

double peak_memory_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

}  // namespace

Outcome run_workload(const Workload& workload) {
  Names names;
  const sim::SystemConfig config = sim::load_config({});
  sim::System system(config, {{"a", "b"}});
  sim::Recorder recorder({});
  sim::ObjectDirectory directory(names.table);
  std::vector<std::unique_ptr<sim::NodeObjects>> objects;
  std::vector<std::unique_ptr<sim::DataProcess>> processes;
  for (std::size_t i = 0; i < 2; ++i) {
    objects.push_back(std::make_unique<sim::NodeObjects>(system.node(i), directory));
    objects.back()->set_default_names(names.cq, names.mr);
    directory.add(i == 0 ? names.a : names.b, *objects.back());
    sim::NodeRecorder& node = recorder.add_node(i == 0 ? "a" : "b");
    processes.push_back(std::make_unique<sim::DataProcess>(*objects[i], directory, &node));
    system.node(i).adapter().adapter().set_observer(&node);
  }
  if (system.start_devices() != 0) throw std::runtime_error("the devices do not start");
  sim::SetUp(system, directory, "workload").connect(connection(names, workload));

  AllocationMarks marks;
  Generator sends(work_item(names, workload, true), workload, &marks);
  Generator receives(work_item(names, workload, false), workload, nullptr);
  NoWork nothing;
  const bool receiving = workload.opcode == sim::SendOpcode::kSend;
  const hw::Time epoch = (system.now() / hw::kMicrosecond + 1) * hw::kMicrosecond;
  recorder.set_epoch(epoch);
  const std::uint64_t events_before =
      system.node(0).engine().events_run() + system.node(1).engine().events_run();
  const std::uint64_t activations_before = system.conductor().activations();
  processes[0]->start(sends, epoch + 2 * hw::kMicrosecond);
  processes[1]->start(receiving ? static_cast<sim::OperationSource&>(receives) : nothing, epoch);

  const double begin = cpu_seconds();
  hw::Time end = epoch;
  while (!processes[0]->finished()) {
    end += hw::kMillisecond;
    if (!system.run_until(end) && !processes[0]->finished()) {
      throw std::runtime_error(processes[0]->stuck_because().why);
    }
  }
  const double seconds = cpu_seconds() - begin;
  const auto messages = static_cast<double>(workload.messages);
  const std::uint64_t events =
      system.node(0).engine().events_run() + system.node(1).engine().events_run();
  Outcome out;
  out.seconds = seconds;
  out.engine_events_per_message = static_cast<double>(events - events_before) / messages;
  out.kernel_events_per_message =
      static_cast<double>(system.conductor().activations() - activations_before) / messages;
  if (workload.messages > kWarmUp) {
    out.allocations_per_message = static_cast<double>(marks.at_end - marks.at_warm_up) /
                                  static_cast<double>(workload.messages - kWarmUp);
  }
  out.simulated_messages_per_second =
      messages / (static_cast<double>(processes[0]->last_activity() - epoch) * 1e-12);
  out.peak_memory_mib = peak_memory_mib();
  return out;
}

}  // namespace hcasim::bench
