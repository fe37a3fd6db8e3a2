// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sim/cosim/stimulus_driver.hpp"

namespace hcasim::sim::cosim {

/// Where the operations of a run come from.
class OperationSource {
 public:
  OperationSource() = default;
  OperationSource(const OperationSource&) = delete;
  OperationSource& operator=(const OperationSource&) = delete;
  virtual ~OperationSource() = default;

  /// Gives the driver what it is to do in this cycle. @return false when this cycle and all later
  /// ones have nothing
  virtual bool apply(StimulusDriver& driver) = 0;
};

/// Operations from a list.
class ListSource final : public OperationSource {
 public:
  /// @param operations must live as long
  explicit ListSource(std::span<const Operation> operations) : operations_(operations) {}

  bool apply(StimulusDriver& driver) override {
    if (waiting_ != 0 && --waiting_ != 0) return true;
    bool any = false;
    for (; at_ < operations_.size(); any = true) {
      const Operation& operation = operations_[at_++];
      if (operation.kind == OperationKind::kWait) {
        waiting_ = operation.count;
        return true;
      }
      driver.apply(operation);
    }
    return any;
  }

  /// Operations that were done or are being waited for.
  std::size_t position() const { return at_; }

 private:
  std::span<const Operation> operations_;
  std::size_t at_ = 0;
  unsigned waiting_ = 0;
};

}  // namespace hcasim::sim::cosim
