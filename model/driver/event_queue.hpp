// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hcasim/hw/contexts.hpp"
#include "hcasim/hw/cqe.hpp"

namespace hcasim::rvt {

struct rvt_dev_info;

/// The driver's side of one event queue: a ring in host memory and the MSI-X vector of its number.
class EventQueue {
 public:
  EventQueue(rvt_dev_info* rdi, std::uint32_t eqn) : rdi_(rdi), eqn_(eqn) {}
  /// Gives ring and vector back; the adapter must have stopped.
  ~EventQueue();
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  /// Allocates the ring and takes the vector. @return 0; -ENOMEM
  int start();
  /// What the adapter has to know.
  hw::EqContext context() const;
  std::uint32_t number() const { return eqn_; }

 private:
  void interrupt();
  bool take(hw::Eqe& eqe);

  rvt_dev_info* rdi_;
  std::uint32_t eqn_;
  std::uint64_t ring_ = 0;
  std::uint32_t index_ = 0;
  std::uint32_t consumed_ = 0;
  std::uint8_t owner_ = 1;
};

/// Acts on one event. Interrupt context.
void rvt_handle_event(rvt_dev_info* rdi, const hw::Eqe& eqe);

}  // namespace hcasim::rvt
