// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/record/record_store.hpp"

#include <algorithm>

#include "sim/record/completions_csv.hpp"

namespace hcasim::sim {

namespace {
constexpr std::size_t kFirstRecords = 1024;
}

RecordStore::RecordStore() {
  grow();
}
RecordStore::~RecordStore() = default;

void RecordStore::set_csv(std::unique_ptr<CompletionsCsv> csv) {
  csv_ = std::move(csv);
}

void RecordStore::grow() {
  const std::size_t old = records_.size();
  records_.resize(std::max(kFirstRecords, 2 * old));
  for (std::size_t i = old; i < records_.size(); ++i) {
    records_[i].next_free = static_cast<std::uint32_t>(i + 1);
  }
  records_.back().next_free = free_;
  free_ = static_cast<std::uint32_t>(old);
  slots_ = records_.data();
  mask_ = static_cast<std::uint32_t>(records_.size() - 1);
}

void RecordStore::write(const MessageRecord& record, hw::Time at) {
  close_before(at - lag_);
  csv_->add(record, at);
}

void RecordStore::close_behind(MessageRecord& record, hw::Time at) {
  if (met_) return close(record, at);
  close_before(at - lag_);
  record.sender_done = true;
  record.done_at = record.until = at;
  closing_.push_back(number_of(record));
}

void RecordStore::close_if_lost(MessageRecord& record, hw::Time at) {
  close_before(at - lag_);
  record.sender_done = true;
  record.done_at = at;
  if (met_) return;  // close_rest() closes it
  record.until = at + time_to_arrive_;
  maybe_lost_.push_back(number_of(record));
}

// When the first record of the queue closes that is still open.
hw::Time RecordStore::next_in(std::deque<std::uint64_t>& queue) {
  while (!queue.empty() && find(queue.front()) == nullptr) queue.pop_front();
  return queue.empty() ? hw::kNever : find(queue.front())->until;
}

void RecordStore::close_next(std::deque<std::uint64_t>& queue) {
  MessageRecord& record = *find(queue.front());
  queue.pop_front();
  record.forget_later_receipt();
  if (csv_ != nullptr) csv_->add(record, record.until);
  release(record);
}

void RecordStore::close_before(hw::Time limit) {
  while (!closing_.empty() || !maybe_lost_.empty()) {
    const hw::Time closing = next_in(closing_);
    const hw::Time lost = next_in(maybe_lost_);
    if (std::min(closing, lost) >= limit) return;
    close_next(closing <= lost ? closing_ : maybe_lost_);
  }
}

void RecordStore::engines_have_met(hw::Time end) {
  close_before(end);
  while (next_in(closing_) != hw::kNever) close_next(closing_);
  maybe_lost_.clear();  // the rest is closed by close_rest()
  met_ = true;
}

void RecordStore::close_rest() {
  for (MessageRecord& record : records_) {
    if (record.sender_done) close(record, hw::kNever);
  }
}

}  // namespace hcasim::sim
