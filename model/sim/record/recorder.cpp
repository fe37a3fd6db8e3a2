// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/record/recorder.hpp"

#include <algorithm>

#include "sim/record/completions_csv.hpp"

namespace hcasim::sim {

Recorder::Recorder(const RecorderOptions& options) {
  store_.set_lag(options.reorder_window / 2);
  store_.set_time_to_arrive(options.time_to_arrive);
  if (options.completions_csv.empty()) return;
  store_.set_csv(std::make_unique<CompletionsCsv>(options.completions_csv, options.reorder_window,
                                                  options.outputs));
}

Recorder::~Recorder() = default;

NodeRecorder& Recorder::add_node(const std::string& name) {
  if (store_.csv() != nullptr) store_.csv()->add_node(name);
  NodeRecorder& node = nodes_.emplace_back(store_, static_cast<std::uint16_t>(nodes_.size()), name);
  node.begin(store_.epoch());
  return node;
}

void Recorder::set_epoch(hw::Time epoch, hw::Time from) {
  epoch_ = epoch;
  from = std::max(from, epoch);
  store_.set_epoch(from);
  if (store_.csv() != nullptr) store_.csv()->set_epoch(epoch);
  for (NodeRecorder& node : nodes_) node.begin(from);
}

void Recorder::close(hw::Time end) {
  end_ = end;
  store_.engines_have_met(end);
  for (NodeRecorder& node : nodes_) node.end(end);
  store_.close_rest();
  if (store_.csv() != nullptr) store_.csv()->close();
}

hw::Time Recorder::last_acknowledgement() {
  hw::Time last = 0;
  for (NodeRecorder& node : nodes_) last = std::max(last, node.last_acknowledgement());
  return last;
}

bool Recorder::output_failed() const {
  return store_.csv() != nullptr && store_.csv()->failed();
}

RunStatistics Recorder::statistics() const {
  RunStatistics result;
  LatencyHistogram latency;
  hw::Time first = hw::kNever;
  hw::Time last = epoch_;
  for (const NodeRecorder& node : nodes_) {
    const NodeTotals& totals = node.totals();
    for (const OpcodeTotals& opcode : totals.opcodes) {
      result.messages_completed += opcode.completed;
      result.messages_failed += opcode.failed();
      result.messages_flushed += opcode.flushed;
      result.messages_unfinished += opcode.unfinished;
      result.bytes_delivered += opcode.bytes;
      latency.merge(opcode.latency);
    }
    first = std::min(first, totals.first_post);
    last = std::max(last, totals.last_completion);
    result.nodes.push_back(totals.statistics());
    result.nodes.back().name = node.name();
    node.append_occupancy(result.occupancy);
  }
  result.latency = latency.summary();
  result.sim_time = std::max<hw::Time>(end_ - epoch_, 0);
  if (first != hw::kNever) {
    result.first_post = first - epoch_;
    result.last_completion = last - epoch_;
  }
  return result;
}

}  // namespace hcasim::sim
