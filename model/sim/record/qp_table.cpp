// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/record/qp_table.hpp"

namespace hcasim::sim {

void CountedRing::grow() {
  std::vector<std::uint64_t> larger(ring_.empty() ? 16 : 2 * ring_.size());
  for (std::uint64_t i = first_; i != last_; ++i) larger[i & (larger.size() - 1)] = at(i);
  ring_.swap(larger);
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
