// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What a consumer arms, and what it is then called for; new sizes.
#include <cerrno>

#include "reference.hpp"

namespace hcasim::differential {

using namespace rvt;

int Reference::set_limit(std::uint32_t limit) {
  if (limit > shared_slots_) return -EINVAL;
  limit_ = limit;
  return 0;
}

int Reference::resize_srq(std::uint32_t slots) {
  if (slots < shared_.size() || slots < limit_) return -EINVAL;
  shared_slots_ = rules_.resized_srq_slots == 0 ? slots : rules_.resized_srq_slots;
  return 0;
}

int Reference::resize_cq(std::size_t cq, std::uint32_t entries) const {
  return entries == 0 || entries < due_[cq] ? -EINVAL : 0;
}

// The event comes with the receive that leaves fewer than the limit, not before, and once.
void Reference::take_shared() {
  shared_.pop_front();
  if (shared_.size() >= limit_) return;
  if (!rules_.limit_stays) limit_ = 0;
  call(IB_EVENT_SRQ_LIMIT_REACHED, 0);
}

// The next completion is more than the next solicited one, and is not taken back for it.
int Reference::arm(std::size_t cq, bool solicited, bool report_missed) {
  if (!solicited || armed_[cq] == Armed::kNot) {
    armed_[cq] = solicited ? Armed::kSolicited : Armed::kNext;
  }
  return report_missed && due_[cq] != 0 ? 1 : 0;
}

// @param urgent the completion is solicited, or tells of a failure
void Reference::notify(std::size_t cq, bool urgent) {
  if (armed_[cq] == Armed::kNot) return;
  if (armed_[cq] == Armed::kSolicited && !urgent && !rules_.all_are_solicited) return;
  if (!rules_.stays_armed) armed_[cq] = Armed::kNot;
  call(kNotification, cq);
}

}  // namespace hcasim::differential
