// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "host/faulty_host.hpp"

namespace hcasim::host {

namespace {

enum Kind : std::uint64_t { kError = 101, kSlow };

// No memory is mapped there, so the root complex answers as it does where there is none.
constexpr std::uint64_t kNowhere = std::uint64_t{1} << 63;

}  // namespace

FaultyHost::FaultyHost(pcie::HostSide& host, const pcie::Parameters::Faults& p, std::uint64_t seed)
    : host_(host),
      error_(p.read_error, seed, kError),
      slow_(p.slow_read, seed, kSlow),
      slow_by_(p.slow_read_ns * hw::kNanosecond),
      spared_(p.read_error_after) {}

void FaultyHost::read(pcie::ReadSink& sink, std::uint64_t token, std::uint64_t address, void* to,
                      std::uint32_t bytes, Time arrival) {
  if (arrival < begun_) return host_.read(sink, token, address, to, bytes, arrival);
  if (slow_.happens()) {
    ++counters_.slow_reads;
    arrival += slow_by_;
  }
  if (spared_ != 0) {
    --spared_;
  } else if (error_.happens()) {
    ++counters_.read_errors;
    address |= kNowhere;
  }
  host_.read(sink, token, address, to, bytes, arrival);
}

}  // namespace hcasim::host
