// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/system/receive_queue_maker.hpp"

#include <algorithm>
#include <array>

#include "hca/adapter.hpp"
#include "hca/receive_queue/receive_queue_model.hpp"
#include "hcasim/sim/input_error.hpp"

namespace hcasim::sim {

namespace {

using hw::rq::Parameters;

struct BoundKey {
  const char* key;
  std::uint32_t Parameters::*value;
};

// A plug-in has these built in. Queues it has as many of as it has: only those are missed that
// somebody wants to use.
constexpr std::array<BoundKey, 5> kBoundKeys{{
    {"hca.receive_queue.takes", &Parameters::takes},
    {"hca.receive_queue.prefetch_wqes", &Parameters::prefetch},
    {"hca.receive_queue.tags", &Parameters::tags},
    {"hca.receive_queue.fetch_bytes", &Parameters::fetch_bytes},
    {"hca.receive_queue.lines", &Parameters::lines},
}};

void check_configuration(const std::string& node, const Parameters& wanted,
                         const hca::ReceiveQueueLibrary& library) {
  const Parameters& built = library.plugin().parameters;
  for (const BoundKey& it : kBoundKeys) {
    if (wanted.*it.value == built.*it.value) continue;
    throw InputError("configuration of node " + node, 0, 0,
                     std::string(it.key) + " to be " + std::to_string(built.*it.value) +
                         ", for which " + library.file() + " was built",
                     std::to_string(wanted.*it.value));
  }
}

// Adapters use addresses and WQEs in full.
void check_sizes(const hca::ReceiveQueueLibrary& library) {
  const hw::rq::Plugin& plugin = library.plugin();
  hw::rq::PluginWidths full;
  full.queue = plugin.widths.queue;
  if (plugin.widths != full) {
    throw InputError(library.file(), 0, 0,
                     "addresses of 64, indices of 16, tags of 32 and beats of 512 bits", "less");
  }
  const std::uint32_t events = Parameters{}.events;
  if (plugin.parameters.events != events) {
    throw InputError(library.file(), 0, 0, std::to_string(events) + " places for events (Events)",
                     std::to_string(plugin.parameters.events));
  }
}

std::shared_ptr<const hca::ReceiveQueueLibrary> load(const std::string& file) {
  try {
    auto library = hca::ReceiveQueueLibrary::load(file);
    check_sizes(*library);
    return library;
  } catch (const hca::ReceiveQueueLibraryError& error) {
    throw InputError(error.file(), 0, 0, error.expected(), error.found());
  }
}

}  // namespace

ReceiveQueueMaker::ReceiveQueueMaker(const ReceiveQueueChoice& choice)
    : kind_(choice.kind), observed_(choice.coverage), record_(choice.record) {
  if (kind_ == ReceiveQueueKind::kModel) return;
  for (const std::string& file : choice.libraries) libraries_.push_back(load(file));
  if (libraries_.empty() || (kind_ == ReceiveQueueKind::kRtl && libraries_.size() != 1)) {
    throw InputError("--rtl", 0, 0, "one plug-in, or several to compare",
                     std::to_string(libraries_.size()));
  }
}

std::unique_ptr<hca::ReceiveQueueUnit> ReceiveQueueMaker::make(const std::string& node,
                                                               const hca::Parameters& parameters) {
  auto unit = make_silent(node, parameters);
  if (record_.empty()) return unit;
  auto& recording = recordings_.emplace_back(recording_of_node(record_, node), unit->parameters());
  return std::make_unique<hca::RecordingReceiveQueue>(std::move(unit), recording);
}

void ReceiveQueueMaker::write_recordings(OutputSet* outputs) {
  for (const ReceiveQueueRecording& recording : recordings_) recording.write(outputs);
}

std::unique_ptr<hca::ReceiveQueueUnit> ReceiveQueueMaker::make_silent(
    const std::string& node, const hca::Parameters& parameters) {
  Parameters wanted = hca::Adapter::receive_queue_parameters(parameters);
  for (const auto& library : libraries_) {
    check_configuration(node, wanted, *library);
    wanted.queues = std::min(wanted.queues, library->plugin().parameters.queues);
  }
  return observe(node, make_unit(node, wanted));
}

std::unique_ptr<hca::ReceiveQueueUnit> ReceiveQueueMaker::make_unit(const std::string& node,
                                                                    const Parameters& wanted) {
  switch (kind_) {
    case ReceiveQueueKind::kRtl:
      return std::make_unique<hca::RtlReceiveQueue>(libraries_.front());
    case ReceiveQueueKind::kLockstep:
      return make_lockstep(node, wanted);
    default:
      return std::make_unique<hca::ReceiveQueueModel>(wanted);
  }
}

// Whoever observes a unit has memory for each of its queues.
std::unique_ptr<hca::ReceiveQueueUnit> ReceiveQueueMaker::observe(
    const std::string& node, std::unique_ptr<hca::ReceiveQueueUnit> unit) {
  if (!observed_) return unit;
  constexpr std::uint32_t kMostQueues = 1U << 16U;
  const std::uint32_t queues = unit->parameters().queues;
  if (queues > kMostQueues) {
    throw InputError("--rq-coverage", 0, 0,
                     "no more than " + std::to_string(kMostQueues) +
                         " receive queues, as with --rq rtl or lockstep",
                     std::to_string(queues));
  }
  auto observed = std::make_unique<cosim::ObservedUnit>(std::move(unit), functional_);
  observers_.emplace_back(node, observed.get());
  return observed;
}

std::string ReceiveQueueMaker::first_fault() const {
  for (const auto& [node, unit] : observers_) {
    if (unit->faults().empty()) continue;
    return "receive queues of node " + node + ": " + unit->faults().front();
  }
  return {};
}

std::unique_ptr<hca::ReceiveQueueUnit> ReceiveQueueMaker::make_lockstep(
    const std::string& node, const Parameters& parameters) {
  std::vector<hca::LockstepSide> sides;
  sides.push_back(
      hca::lockstep_side("model", std::make_unique<hca::ReceiveQueueModel>(parameters)));
  for (const auto& library : libraries_) {
    sides.push_back(hca::lockstep_side(std::make_unique<hca::RtlReceiveQueue>(library)));
  }
  auto unit = std::make_unique<hca::LockstepReceiveQueue>(std::move(sides),
                                                          "receive queues of node " + node + ": ");
  lockstep_.push_back(unit.get());
  return unit;
}

hca::LockstepCoverage ReceiveQueueMaker::coverage() const {
  hca::LockstepCoverage sum;
  for (const hca::LockstepReceiveQueue* unit : lockstep_) sum += unit->coverage();
  return sum;
}

std::string ReceiveQueueMaker::library_names() const {
  std::string names;
  for (const auto& library : libraries_) names += (names.empty() ? "" : ", ") + library->file();
  return names;
}

}  // namespace hcasim::sim
