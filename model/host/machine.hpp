// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "host/memory.hpp"
#include "sim/engine/engine_module.hpp"
#include "sim/engine/tasks.hpp"

namespace hcasim::host {

/// What the PCIe slots of a host share: the engine, the memory and the tasks on its CPUs. An
/// address that one slot's driver has allocated is good for the DMA of every other.
struct Machine {
  /// `memory_bytes` can be allocated by all drivers together. `host_engine` must outlive this.
  Machine(sim::EngineModule& host_engine, std::uint64_t memory_bytes)
      : engine(host_engine),
        tasks(host_engine.engine()),
        memory(host_engine.engine(), memory_bytes) {}

  sim::EngineModule& engine;
  sim::Tasks tasks;
  Memory memory;
};

}  // namespace hcasim::host
