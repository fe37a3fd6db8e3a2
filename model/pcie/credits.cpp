// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "pcie/credits.hpp"

namespace hcasim::pcie {

namespace {
std::uint32_t at_least_one_payload(const Parameters& p) {
  return std::max(p.posted_data_credits, p.mps_bytes / TlpLayout::kCreditBytes);
}
}  // namespace

// A receiver has to advertise room for one TLP of maximum payload, whatever was configured.
PostedCredits::PostedCredits(const Parameters& p, const TlpLayout& layout,
                             const fabric::ByteRate& rate)
    : layout_(layout),
      rate_(rate),
      headers_(std::max(p.posted_header_credits, 1u)),
      data_(at_least_one_payload(p)) {}

// The oldest transfer is not back as a whole.
bool PostedCredits::enough_of_parts(std::uint32_t tlps, std::uint32_t data, Time now) {
  collect(tlps, data, now);
  return tlps <= headers_ && data <= data_;
}

// Takes credits back, oldest first, until there are as many as asked for or the next ones come
// after `until`. Returns the later of `now` and the time at which the last of them came.
Time PostedCredits::collect(std::uint32_t tlps, std::uint32_t data, Time until, Time now) {
  while ((tlps > headers_ || data > data_) && !spent_.empty()) {
    Time back = 0;
    if (!collect_first(until, back)) break;
    now = std::max(now, back);
  }
  return now;
}

// The oldest transfer whole when it is back already, or else its first TLP.
bool PostedCredits::collect_first(Time until, Time& back) {
  Spent& oldest = spent_.front();
  const bool whole = oldest.tlps == 1 || (until != hw::kNever && oldest.last_back <= until);
  if (whole) {
    if (oldest.last_back > until) return false;
    back = oldest.last_back;
    take_back_first();
    return true;
  }
  const std::uint32_t payload = layout_.first_write(oldest.address, oldest.bytes);
  const std::uint32_t data = (payload + TlpLayout::kCreditBytes - 1) / TlpLayout::kCreditBytes;
  const std::uint32_t after = oldest.bytes - payload + (oldest.tlps - 1) * layout_.write_overhead();
  back = oldest.last_back - rate_.floor(after);
  if (back > until) return false;
  ++headers_;
  data_ += data;
  oldest.address += payload;
  oldest.bytes -= payload;
  oldest.data -= data;
  --oldest.tlps;
  return true;
}

Time RequestCredits::next(std::uint32_t wanted, Time now) const {
  std::uint32_t count = free_;
  for (std::size_t i = 0; count < wanted; ++i) {
    if (i == returns_.size()) return hw::kNever;
    count += returns_[i].count;
    now = std::max(now, returns_[i].at);
  }
  return now;
}

Time Tags::next(std::uint32_t wanted, Time now) const {
  std::uint32_t count = free_;
  for (std::size_t i = 0; count < wanted; ++i) {
    if (i == returns_.size()) return hw::kNever;
    const std::uint32_t part = std::min(wanted - count, returns_[i].requests);
    count += part;
    now = std::max(now, time_of(returns_[i], part));
  }
  return now;
}

// When the completions of the first so many requests have arrived.
Time Tags::time_of(const Return& part, std::uint32_t requests) const {
  if (requests == part.requests) return part.last;
  std::uint32_t before = 0;
  for (; requests != 0; --requests) {
    before += layout_.first_read(part.address + before, part.bytes - before);
  }
  const std::uint32_t after = layout_.completions(part.address + before, part.bytes - before).bytes;
  return part.last - rate_.floor(after);
}

bool Tags::collect_first(Time now) {
  Return& oldest = returns_.front();
  if (oldest.last <= now) {
    free_ += oldest.requests;
    returns_.drop();
    return true;
  }
  if (time_of(oldest, 1) > now) return false;
  const std::uint32_t first = layout_.first_read(oldest.address, oldest.bytes);
  oldest.address += first;
  oldest.bytes -= first;
  --oldest.requests;
  ++free_;
  return true;
}

}  // namespace hcasim::pcie
