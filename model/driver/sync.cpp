// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "hcasim/rvt/sync.hpp"

namespace hcasim::rvt {

void Mutex::lock(hw::HostPort& port) {
  assert_no_lock_held("Mutex::lock");
  if (!held_) {
    held_ = true;
    return;
  }
  if (!turn_) turn_ = port.make_wait_point();
  ++waiting_;
  turn_->wait(hw::kNever);
}

void Mutex::unlock() {
  if (waiting_ == 0) {
    held_ = false;
    return;
  }
  --waiting_;
  turn_->signal();
}

}  // namespace hcasim::rvt
