// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "support/adapter_bench/scripted_dma.hpp"

#include <string>

#include "sim/engine/engine.hpp"

namespace hcasim::testing {

namespace {
constexpr std::size_t kMemoryBytes = std::size_t{4} << 20;
}

ScriptedDma::ScriptedDma(sim::Engine& engine, Time read_latency, Time write_latency)
    : Unit(engine, "dma"),
      memory_(kMemoryBytes),
      read_latency_(read_latency),
      write_latency_(write_latency) {}

void ScriptedDma::set_read_latency(std::uint64_t first, std::uint64_t bytes, Time latency) {
  latencies_.push_back({{first, bytes}, latency});
}

void ScriptedDma::check(std::uint64_t address, std::uint32_t bytes) const {
  if (bytes == 0 || address > memory_.size() || bytes > memory_.size() - address) {
    fail("an access to no memory at " + std::to_string(address));
  }
}

bool ScriptedDma::fails(std::uint64_t address) const {
  for (const Range& range : failing_) {
    if (range.holds(address)) return true;
  }
  return false;
}

Time ScriptedDma::latency_of(std::uint64_t address) const {
  Time latency = read_latency_;
  for (const auto& [range, other] : latencies_) {
    if (range.holds(address)) latency = other;
  }
  return latency;
}

void ScriptedDma::pend(Time at, Pending pending) {
  pending_.push_back(std::move(pending));
  schedule(at, pending_.size() - 1);
}

void ScriptedDma::read(std::uint64_t address, void* to, std::uint32_t bytes,
                       pcie::DmaClient& client, std::uint64_t token) {
  const bool error = fails(address);
  if (!error) check(address, bytes);
  const Time done = now() + latency_of(address);
  log_.push_back({DmaOperation::Kind::kRead, address, bytes, now(), done});
  pend(done, {address, to, bytes, &client, token, error, {}});
}

Time ScriptedDma::write(std::uint64_t address, const void* from, std::uint32_t bytes) {
  check(address, bytes);
  const Time done = now() + write_latency_;
  const auto* data = static_cast<const std::uint8_t*>(from);
  log_.push_back({DmaOperation::Kind::kWrite, address, bytes, now(), done});
  pend(done, {address, nullptr, bytes, nullptr, 0, false, {data, data + bytes}});
  return done;
}

void ScriptedDma::interrupt(std::uint32_t vector) {
  log_.push_back({DmaOperation::Kind::kInterrupt, vector, 4, now(), now() + write_latency_});
  if (handler_ && vector == handled_) handler_();
}

void ScriptedDma::on_event(std::uint64_t argument) {
  const Pending pending = std::move(pending_[argument]);
  if (pending.client == nullptr) {
    std::memcpy(bytes_at(pending.address), pending.data.data(), pending.bytes);
    return;
  }
  if (!pending.error) std::memcpy(pending.to, bytes_at(pending.address), pending.bytes);
  pending.client->on_dma_read(pending.token, pending.error);
}

std::vector<DmaOperation> ScriptedDma::operations(DmaOperation::Kind kind, std::uint64_t first,
                                                  std::uint64_t bytes) const {
  std::vector<DmaOperation> found;
  for (const DmaOperation& one : log_) {
    const bool touches = one.address < first + bytes && first < one.address + one.bytes;
    const bool same = kind == DmaOperation::Kind::kInterrupt ? one.address == first : touches;
    if (one.kind == kind && same) found.push_back(one);
  }
  return found;
}

}  // namespace hcasim::testing
