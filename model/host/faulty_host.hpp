// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "pcie/parameters.hpp"
#include "pcie/transactions.hpp"
#include "sim/engine/random.hpp"

namespace hcasim::host {

using hw::Time;

/// What a faulty host did.
struct FaultCounters {
  std::uint64_t read_errors = 0;
  std::uint64_t slow_reads = 0;
};

/// A host whose memory answers some DMA reads late and some with an error. It stands between the
/// link and the root complex.
class FaultyHost final : public pcie::HostSide {
 public:
  FaultyHost(pcie::HostSide& host, const pcie::Parameters::Faults& faults, std::uint64_t seed);

  /// The run begins: before this time, and until this is called, the host is sound.
  void begin(Time time) { begun_ = time; }

  Time write(std::uint64_t address, const void* from, std::uint32_t bytes, Time arrival) override {
    return host_.write(address, from, bytes, arrival);
  }
  void read(pcie::ReadSink& sink, std::uint64_t token, std::uint64_t address, void* to,
            std::uint32_t bytes, Time arrival) override;

  const FaultCounters& counters() const { return counters_; }

 private:
  pcie::HostSide& host_;
  sim::Chance error_;
  sim::Chance slow_;
  Time slow_by_;
  std::uint64_t spared_;  // reads still to go well
  Time begun_ = hw::kNever;
  FaultCounters counters_;
};

}  // namespace hcasim::host
