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
  csv_->add(record, at);
}

void RecordStore::close_rest() {
  for (MessageRecord& record : records_) {
    if (record.sender_done) close(record, hw::kNever);
  }
}

}  // namespace hcasim::sim
