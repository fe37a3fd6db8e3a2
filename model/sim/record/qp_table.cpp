// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/record/qp_table.hpp"

#include <utility>

namespace hcasim::sim {

void CountedRing::grow() {
  const std::size_t larger_mask = 2 * mask_ + 1;
  auto larger = std::make_unique<std::uint64_t[]>(larger_mask + 1);
  for (std::uint64_t i = first_; i != last_; ++i) larger[i & larger_mask] = at(i);
  ring_ = std::move(larger);
  mask_ = larger_mask;
}

QpRecord* QpTable::find_in_pages(std::uint32_t qpn) {
  const std::size_t page = qpn / kPage;
  if (page >= pages_.size() || pages_[page] == nullptr) return nullptr;
  QpRecord* const record = (*pages_[page])[qpn % kPage].get();
  if (record != nullptr) {
    latest_qpn_ = qpn;
    latest_ = record;
  }
  return record;
}

QpRecord& QpTable::make(std::uint32_t qpn) {
  const std::size_t page = qpn / kPage;
  if (page >= pages_.size()) pages_.resize(page + 1);
  if (pages_[page] == nullptr) pages_[page] = std::make_unique<Page>();
  auto& record = (*pages_[page])[qpn % kPage];
  record = std::make_unique<QpRecord>();
  record->name = keep_name("qp" + std::to_string(qpn));
  return *record;
}

const std::string* QpTable::keep_name(std::string_view name) {
  auto found = names_.find(name);
  if (found == names_.end()) found = names_.emplace(name).first;
  return &*found;
}

}  // namespace hcasim::sim
