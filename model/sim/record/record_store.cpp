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

void RecordStore::set_csv(std::unique_ptr<CompletionsCsv> csv, hw::Time lag) {
  csv_ = std::move(csv);
  lag_ = lag;
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
  if (csv_ == nullptr || met_) return close(record, at);
  record.sender_done = true;
  record.done_at = record.until = at;
  closing_.push_back(static_cast<std::uint32_t>(&record - slots_));
}

void RecordStore::close_before(hw::Time limit) {
  while (!closing_.empty() && slots_[closing_.front()].done_at < limit) {
    MessageRecord& record = slots_[closing_.front()];
    closing_.pop_front();
    record.forget_later_receipt();
    csv_->add(record, record.done_at);
    release(record);
  }
}

void RecordStore::engines_have_met() {
  close_before(hw::kNever);
  met_ = true;
}

void RecordStore::close_rest() {
  for (MessageRecord& record : records_) {
    if (record.sender_done) close(record, hw::kNever);
  }
}

}  // namespace hcasim::sim
