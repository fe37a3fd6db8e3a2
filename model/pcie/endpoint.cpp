// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "pcie/endpoint.hpp"

namespace hcasim::pcie {

Endpoint::Endpoint(sim::Engine& engine, const std::string& name, const Parameters& p,
                   HostSide& host)
    : Unit(engine, name),
      host_(&host),
      layout_(p),
      upstream_(LinkRates(p).tlp_rate()),
      propagation_(p.propagation_ns * hw::kNanosecond),
      drain_(p.write_latency_ns * hw::kNanosecond),
      posted_(p, layout_, upstream_.rate()),
      nonposted_(p.nonposted_header_credits),
      tags_(p.tags, layout_, upstream_.rate()),
      batch_(std::max(1u, std::min(p.tags, p.nonposted_header_credits) / 4)) {}

// --- Writes
// ---------------------------------------------------------------------------------------

[[gnu::flatten]] Time Endpoint::write(std::uint64_t address, const void* from,
                                      std::uint32_t bytes) {
  ++counters_.writes;
  counters_.write_bytes += bytes;
  const Time arrival = layout_.single_write(address, bytes)
                           ? send_write(address, bytes, 1, TlpLayout::credits(bytes))
                           : send_long_write(address, bytes);
  return host_->write(address, from, bytes, arrival);
}

Time Endpoint::send_long_write(std::uint64_t address, std::uint32_t bytes) {
  return send_write(address, bytes, layout_.write(address, bytes).tlps,
                    layout_.data_credits(address, bytes));
}

void Endpoint::interrupt(std::uint32_t vector) {
  ++counters_.interrupts;
  write(kMsixAddress, &vector, kMsixBytes);
}

// One TLP after the other, each as soon as it has credits.
Time Endpoint::send_write_slowly(std::uint64_t address, std::uint32_t bytes) {
  Time arrival = 0;
  while (bytes != 0) {
    const std::uint32_t payload = layout_.first_write(address, bytes);
    const std::uint32_t data = layout_.data_credits(address, payload);
    const Time free = std::max(now(), upstream_.free_at());
    const Time at = posted_.wait_for(data, free);
    const bool waits = at > free;
    counters_.write_waits += waits ? 1 : 0;
    arrival = put_write(address, payload, 1, data, waits ? at : now());
    address += payload;
    bytes -= payload;
  }
  return arrival;
}

Time Endpoint::complete_mmio_read(std::uint32_t bytes) {
  return upstream_.reserve(now(), bytes + layout_.completion_overhead()).end + propagation_;
}

// --- Reads
// ----------------------------------------------------------------------------------------

[[gnu::flatten]] void Endpoint::read(std::uint64_t address, void* to, std::uint32_t bytes,
                                     DmaClient& client, std::uint64_t token) {
  ++counters_.reads;
  counters_.read_bytes += bytes;
  const std::uint32_t index = reads_.take();
  reads_[index] = {address, static_cast<std::uint8_t*>(to), &client, token, bytes, 0, false};
  if (!waiting_.empty() || !ask(index)) wait_in_line(index);
}

void Endpoint::wait_in_line(std::uint32_t index) {
  ++counters_.read_waits;
  waiting_.push(index);
  if (waiting_.size() == 1) arm();
}

// Sends as many requests of a read as there are tags and credits for, unless that is too few.
bool Endpoint::ask_for_part(std::uint32_t index, std::uint32_t wanted) {
  const std::uint32_t possible =
      std::min(tags_.available(wanted, now()), nonposted_.available(wanted, now()));
  if (possible >= least_batch(wanted)) {
    send_requests(index, bytes_of_requests(reads_[index], possible), possible);
  }
  return false;
}

std::uint32_t Endpoint::bytes_of_requests(const Read& read, std::uint32_t requests) const {
  std::uint32_t bytes = 0;
  for (; requests != 0; --requests) {
    bytes += layout_.first_read(read.address + bytes, read.bytes_to_ask - bytes);
  }
  return bytes;
}

void Endpoint::send_requests(std::uint32_t index, std::uint32_t bytes, std::uint32_t requests) {
  tags_.take(requests);
  nonposted_.take(requests);
  requests_outstanding_ += requests;
  const Time first_end = upstream_.reserve(now(), layout_.request_overhead()).end;
  if (requests > 1)
    upstream_.reserve(now(), std::uint64_t{requests - 1} * layout_.request_overhead());
  Read& read = reads_[index];
  const std::uint64_t address = read.address;
  std::uint8_t* to = read.to;
  read.address += bytes;
  read.to += bytes;
  read.bytes_to_ask -= bytes;
  ++read.parts_out;
  host_->read(*this, index, address, to, bytes, first_end + propagation_);
}

void Endpoint::on_completion(std::uint64_t token, std::uint64_t address, std::uint32_t bytes,
                             Time at, bool error) {
  const auto index = static_cast<std::uint32_t>(token);
  const std::uint32_t requests = layout_.read_requests(address, bytes).tlps;
  requests_outstanding_ -= requests;
  tags_.give_back(address, bytes, requests, at);
  // The root complex has taken the requests out of its buffer; the update travels back now.
  nonposted_.give_back(requests, now() + propagation_);
  Read& read = reads_[index];
  read.error = read.error || error;
  if (--read.parts_out == 0 && read.bytes_to_ask == 0) schedule(at, index);
  if (!waiting_.empty()) arm();
}

void Endpoint::on_event(std::uint64_t argument) {
  if (argument == kServe) {
    serve_waiting();
  } else {
    finish(static_cast<std::uint32_t>(argument));
  }
}

void Endpoint::finish(std::uint32_t index) {
  const Read& read = reads_[index];
  DmaClient& client = *read.client;
  const bool error = read.error;
  const std::uint64_t token = read.token;
  reads_.give_back(index);
  counters_.read_errors += error ? 1 : 0;
  client.on_dma_read(token, error);
}

void Endpoint::serve_waiting() {
  if (now() != armed_at_) return;  // an earlier wake-up did this one's work
  armed_at_ = hw::kNever;
  while (!waiting_.empty()) {
    if (!ask(waiting_.front())) break;
    waiting_.pop();
  }
  if (!waiting_.empty()) arm();
}

// Wakes this unit when the first waiting read can ask for more, if that is known by now.
void Endpoint::arm() {
  const std::uint32_t batch = least_batch(requests_of(reads_[waiting_.front()]));
  const Time at = std::max(tags_.next(batch, now()), nonposted_.next(batch, now()));
  if (at >= armed_at_) return;
  armed_at_ = at;
  schedule(at, kServe);
}

}  // namespace hcasim::pcie
