// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "hcasim/hw/time.hpp"
#include "hcasim/sim/name_table.hpp"
#include "sim/replay/work_item.hpp"

namespace hcasim::sim {

/// The labels of one node. A definition is kept only while its operation has not completed, or
/// while somebody refers to it, or while it is its label's latest.
class Labels {
 public:
  /// A new definition of the label.
  LabelInstance define(NameId label);
  /// A reference to the label's latest definition; every reference is given back by release().
  LabelInstance refer(NameId label);
  void complete(LabelInstance instance, hw::Time at);
  bool done(LabelInstance instance) const { return instances_[instance].done; }
  hw::Time completed_at(LabelInstance instance) const { return instances_[instance].at; }
  void release(LabelInstance instance);
  /// Names a queue that waits for the instance; complete() returns it through take_waiters().
  void wait(LabelInstance instance, std::uint32_t queue);
  std::vector<std::uint32_t>& waiters(LabelInstance instance) {
    return instances_[instance].waiters;
  }
  std::size_t held() const { return instances_.size() - free_.size(); }

 private:
  struct Instance {
    hw::Time at = 0;
    std::uint32_t references = 0;
    bool done = false;
    bool latest = false;
    std::vector<std::uint32_t> waiters;
  };

  void drop_if_unused(LabelInstance instance);

  std::vector<Instance> instances_;
  std::vector<LabelInstance> free_;
  std::vector<LabelInstance> latest_;  // by label
};

}  // namespace hcasim::sim
