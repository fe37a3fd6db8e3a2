// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/replay/labels.hpp"

#include <algorithm>

namespace hcasim::sim {

LabelInstance Labels::define(NameId label) {
  if (label >= latest_.size()) latest_.resize(label + 1, kNoInstance);
  const LabelInstance before = latest_[label];
  if (before != kNoInstance) {
    instances_[before].latest = false;
    drop_if_unused(before);
  }
  LabelInstance instance;
  if (free_.empty()) {
    instance = static_cast<LabelInstance>(instances_.size());
    instances_.emplace_back();
  } else {
    instance = free_.back();
    free_.pop_back();
  }
  instances_[instance].done = false;
  instances_[instance].latest = true;
  instances_[instance].references = 0;
  latest_[label] = instance;
  return instance;
}

LabelInstance Labels::refer(NameId label) {
  const LabelInstance instance = latest_[label];  // the reader has seen the definition
  ++instances_[instance].references;
  return instance;
}

void Labels::complete(LabelInstance instance, hw::Time at) {
  instances_[instance].done = true;
  instances_[instance].at = at;
  drop_if_unused(instance);
}

void Labels::release(LabelInstance instance) {
  --instances_[instance].references;
  drop_if_unused(instance);
}

void Labels::wait(LabelInstance instance, std::uint32_t queue) {
  std::vector<std::uint32_t>& waiters = instances_[instance].waiters;
  if (std::find(waiters.begin(), waiters.end(), queue) == waiters.end()) waiters.push_back(queue);
}

void Labels::drop_if_unused(LabelInstance instance) {
  const Instance& it = instances_[instance];
  if (it.done && !it.latest && it.references == 0) free_.push_back(instance);
}

}  // namespace hcasim::sim
