// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "host/mmio_port.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace hcasim::host {

namespace {
constexpr std::uint32_t kCreditBytes = pcie::TlpLayout::kCreditBytes;
}

MmioPort::MmioPort(sim::Engine& engine, const pcie::Parameters& p, fabric::LinkClock& downstream,
                   pcie::DeviceSide& device)
    : Unit(engine, "mmio"),
      layout_(p),
      downstream_(downstream),
      device_(device),
      propagation_(p.propagation_ns * hw::kNanosecond),
      // A burst has to fit, whatever was configured, or it could never leave.
      headers_(std::max(p.posted_header_credits, kMaxBytes / kLineBytes)),
      credits_(std::max(p.posted_data_credits, kMaxBytes / kCreditBytes)) {}

std::uint32_t MmioPort::add_access() {
  accesses_.push_back(std::make_unique<Access>());
  free_.reserve(accesses_.capacity());
  return static_cast<std::uint32_t>(accesses_.size() - 1);
}

void MmioPort::refuse_unless_burst(std::uint64_t offset, std::uint32_t bytes) const {
  const bool whole_lines = bytes % kLineBytes == 0 && offset % kLineBytes == 0;
  if (bytes == 0 || bytes > kMaxBytes || !whole_lines) {
    fail(fmt::format("a store of {} bytes at {:#x} of the BAR is not possible", bytes, offset));
  }
}

[[gnu::flatten]] void MmioPort::write(std::uint64_t offset, const void* data, std::uint32_t bytes,
                                      Time issue) {
  if (bytes == 0 || bytes > kLineBytes) refuse_unless_burst(offset, bytes);
  const std::uint32_t index = allocate();
  Access& access = *accesses_[index];
  access.offset = offset;
  access.issue = issue;
  access.bytes = bytes;
  access.tlps = (bytes + kLineBytes - 1) / kLineBytes;
  access.credits = (bytes + kCreditBytes - 1) / kCreditBytes;
  access.link_bytes = bytes + access.tlps * layout_.write_overhead();
  access.is_write = true;
  if (bytes == sizeof(std::uint64_t)) {
    std::memcpy(access.data.data(), data, sizeof(std::uint64_t));  // a doorbell, as most are
  } else {
    std::memcpy(access.data.data(), data, bytes);
  }
  ++counters_.writes;
  counters_.write_bytes += bytes;
  enqueue(index);
}

void MmioPort::read(std::uint64_t offset, std::uint64_t& to, Time issue, hw::Callback done) {
  const std::uint32_t index = allocate();
  Access& access = *accesses_[index];
  access.offset = offset;
  access.issue = issue;
  access.bytes = sizeof to;
  access.link_bytes = layout_.request_overhead();
  access.is_write = false;
  access.to = &to;
  access.done = done;
  ++counters_.reads;
  enqueue(index);
}

void MmioPort::enqueue(std::uint32_t index) {
  const Time issue = accesses_[index]->issue;
  queue_.push_sorted(
      index, [this, issue](std::uint32_t other) { return accesses_[other]->issue > issue; });
  if (issue > now()) {
    schedule(issue, kPump);
  } else {
    pump();
  }
}

void MmioPort::on_event(std::uint64_t argument) {
  if (argument == kPump) {
    pump();
  } else {
    finish_read(static_cast<std::uint32_t>(argument));
  }
}

[[gnu::flatten]] void MmioPort::pump() {
  while (!queue_.empty() && !channel_busy_) {
    const std::uint32_t index = queue_.front();
    const Access& access = *accesses_[index];
    if (access.issue > now() || !take_credits(access)) return;
    queue_.drop();
    send(index);
  }
}

bool MmioPort::take_credits(const Access& access) {
  if (!access.is_write) return true;
  if (!enough_credits(access) && !collect_credits(access)) return false;
  short_of_credits_ = false;
  headers_ -= access.tlps;
  credits_ -= access.credits;
  return true;
}

// Takes back what came back by now. Wakes this unit for the next if that is not enough.
bool MmioPort::collect_credits(const Access& access) {
  while (!returns_.empty() && returns_.front().at <= now()) {
    headers_ += returns_.front().tlps;
    credits_ += returns_.front().credits;
    returns_.drop();
  }
  if (enough_credits(access)) return true;
  counters_.credit_waits += short_of_credits_ ? 0 : 1;
  short_of_credits_ = true;
  if (!returns_.empty()) schedule(returns_.front().at, kPump);
  return false;
}

void MmioPort::send(std::uint32_t index) {
  Access& access = *accesses_[index];
  const Time arrival = downstream_.reserve(now(), access.link_bytes).end + propagation_;
  const bool more = device_.access(
      *this, {index, access.offset, access.data.data(), access.bytes, access.is_write}, arrival);
  if (!more) channel_busy_ = true;
}

void MmioPort::on_bar_done(std::uint64_t token, Time at) {
  const auto index = static_cast<std::uint32_t>(token);
  const Access& access = *accesses_[index];
  if (!access.is_write) {
    schedule(at, token);
    return;
  }
  returns_.emplace() = {at, access.tlps, access.credits};
  returns_.settle_last([at](const Return& other) { return other.at > at; });
  free_.push_back(index);
  if (short_of_credits_) schedule(at, kPump);
}

void MmioPort::on_bar_free() {
  channel_busy_ = false;
  pump();
}

void MmioPort::finish_read(std::uint32_t index) {
  Access& access = *accesses_[index];
  std::memcpy(access.to, access.data.data(), sizeof *access.to);
  const hw::Callback done = access.done;
  free_.push_back(index);
  done();
}

}  // namespace hcasim::host
