// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "host/root_complex.hpp"

#include <algorithm>
#include <cstring>

#include "pcie/link_rates.hpp"

namespace hcasim::host {

RootComplex::RootComplex(sim::Engine& engine, const pcie::Parameters& p, Memory& memory,
                         InterruptController& interrupts, std::uint64_t seed)
    : Unit(engine, "root_complex"),
      memory_(memory),
      posted_(memory),
      interrupts_(interrupts),
      layout_(p),
      downstream_(pcie::LinkRates(p).tlp_rate()),
      latency_(p, seed),
      propagation_(p.propagation_ns * hw::kNanosecond),
      write_latency_(p.write_latency_ns * hw::kNanosecond) {}

Time RootComplex::write(std::uint64_t address, const void* from, std::uint32_t bytes,
                        Time arrival) {
  ++counters_.writes;
  last_visible_ = std::max(last_visible_, arrival + write_latency_);
  if (posted_.post_if_simple(address, from, bytes, last_visible_)) return last_visible_;
  return write_any(address, from, bytes);
}

Time RootComplex::write_any(std::uint64_t address, const void* from, std::uint32_t bytes) {
  if (posted_.try_post(address, from, bytes, last_visible_)) return last_visible_;
  if (address == pcie::kMsixAddress && bytes == pcie::kMsixBytes) {
    std::uint32_t vector = 0;
    std::memcpy(&vector, from, sizeof vector);
    ++counters_.messages;
    interrupts_.raise(vector, last_visible_);
  } else {
    ++counters_.unmapped_writes;
  }
  return last_visible_;
}

void RootComplex::read(pcie::ReadSink& sink, std::uint64_t token, std::uint64_t address, void* to,
                       std::uint32_t bytes, Time arrival) {
  ++counters_.reads;
  ++pending_;
  const std::uint32_t index = reads_.take();
  reads_[index] = {&sink, token, address, to, bytes};
  schedule(std::max(arrival + latency_.draw(), last_visible_), index);
}

void RootComplex::on_event(std::uint64_t argument) {
  const auto index = static_cast<std::uint32_t>(argument);
  const Read& read = reads_[index];
  reads_.give_back(index);
  --pending_;
  const bool mapped = memory_.try_read(read.address, read.to, read.bytes);
  std::uint32_t link_bytes = layout_.completion_overhead();  // an error has no data
  if (mapped) {
    link_bytes = layout_.completions(read.address, read.bytes).bytes;
  } else {
    ++counters_.unmapped_reads;
  }
  const Time end = downstream_.reserve(now(), link_bytes).end;
  read.sink->on_completion(read.token, read.address, read.bytes, end + propagation_, !mapped);
}

// The link is not reserved: such a caller may be ahead of the engine's time.
Time RootComplex::read_at_once(std::uint64_t address, void* to, std::uint32_t bytes, Time at,
                               bool& error) {
  ++counters_.reads;
  error = !memory_.mapped(address, bytes);
  counters_.unmapped_reads += error ? 1 : 0;
  const Time latency = latency_.draw() + propagation_;
  if (error) return latency;
  memory_.apply_until(at);
  memory_.read(address, to, bytes);
  return latency + downstream_.rate().ceil(layout_.completions(address, bytes).bytes);
}

}  // namespace hcasim::host
