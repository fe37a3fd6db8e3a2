// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/record/qp_table.hpp"

#include <utility>

namespace hcasim::sim {

void CountedRing::grow() {
  const std::size_t capacity = capacity_ == 0 ? kFirstSize : 2 * capacity_;
  auto larger = std::make_unique<std::uint64_t[]>(capacity);
  for (std::uint64_t i = first_; i != last_; ++i) larger[i & (capacity - 1)] = at(i);
  ring_ = std::move(larger);
  capacity_ = capacity;
  mask_ = capacity - 1;
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
  return *record;
}

QpRecord& QpTable::numbered(std::uint32_t qpn) {
  return named(qpn, "qp" + std::to_string(qpn));
}

QpRecord& QpTable::named(std::uint32_t qpn, std::string_view name) {
  QpRecord* const known = find(qpn);
  QpRecord& record = known != nullptr ? *known : make(qpn);
  record.name = keep_name(name);
  return record;
}

const std::string* QpTable::keep_name(std::string_view name) {
  auto found = names_.find(name);
  if (found == names_.end()) found = names_.emplace(name).first;
  return &*found;
}

}  // namespace hcasim::sim
