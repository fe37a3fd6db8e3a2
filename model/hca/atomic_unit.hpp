// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "hca/core.hpp"
#include "pcie/dma.hpp"
#include "sim/engine/unit.hpp"

namespace hcasim::hca {

/// Carries out atomics one after the other: reads 8 bytes of host memory, computes, writes back.
/// Atomics of one adapter are atomic to each other; those of the CPU or of another adapter are not
/// excluded (IB_ATOMIC_HCA).
class AtomicUnit : public sim::Unit, public pcie::DmaClient {
 public:
  struct Work {
    std::uint64_t address = 0;  ///< host address
    std::uint64_t swap_add = 0;
    std::uint64_t compare = 0;
    std::uint64_t message = 0;
    Response* response = nullptr;
    std::uint32_t qpn = 0;
    bool compare_swap = false;
  };
  struct Counters {
    std::uint64_t atomics = 0;
  };

  explicit AtomicUnit(Core& core) : Unit(core.engine, "atomic"), core_(core) {}

  void start(const Work& work);
  /// Atomics that were ever begun, and those of them that are over.
  std::uint64_t begun() const { return ended_ + waiting_.size(); }
  std::uint64_t ended() const { return ended_; }

  const Counters& counters() const { return counters_; }
  hw::Time busy() const { return busy_; }
  void on_event(std::uint64_t argument) override;
  void on_dma_read(std::uint64_t token, bool error) override;

 private:
  void next();

  Core& core_;
  Fifo<Work> waiting_;
  std::uint64_t ended_ = 0;
  std::uint64_t original_ = 0;
  hw::Time started_ = 0;
  hw::Time busy_ = 0;
  bool running_ = false;
  Counters counters_;
};

}  // namespace hcasim::hca
