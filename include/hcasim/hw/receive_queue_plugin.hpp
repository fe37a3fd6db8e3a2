// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <hcasim/hw/receive_queue_counters.hpp>
#include <hcasim/hw/receive_queue_ports.hpp>

/// A receive-queue unit in a shared library of its own, such as compiled RTL. The library exports
/// one function with C linkage, `hcasim_receive_queue_plugin`, of type PluginFunction. Nothing that
/// it calls or is given allocates across the border, and no exception crosses it. The CMake
/// function hcasim_add_rtl() makes such a library from RTL.
namespace hcasim::hw::rq {

/// Version of what follows: a program loads plug-ins of its own version only.
inline constexpr std::uint32_t kPluginVersion = 1;

/// Name of the function that a plug-in exports.
inline constexpr char kPluginSymbol[] = "hcasim_receive_queue_plugin";

/// Widths in bits of the ports of an RTL build. In a whole system they have to be those given here;
/// smaller ones are for proofs and small test benches.
struct PluginWidths {
  std::uint32_t queue = 24;     ///< queue numbers
  std::uint32_t address = 64;   ///< base, address of a request
  std::uint32_t index = 16;     ///< size, head, fetch, tail, limit, slot, remaining
  std::uint32_t take_tag = 32;  ///< tag of a take
  std::uint32_t data = 512;  ///< beats; a multiple of 16, the half of it from each half of a beat

  friend bool operator==(const PluginWidths&, const PluginWidths&) = default;
};

/// The table of a plug-in. It and what it points to live as long as the library is loaded.
/// `version` and the sizes come first and stay there in all versions.
struct Plugin {
  std::uint32_t version = kPluginVersion;
  std::uint32_t plugin_bytes = sizeof(Plugin);
  std::uint32_t inputs_bytes = sizeof(Inputs);
  std::uint32_t outputs_bytes = sizeof(Outputs);
  std::uint32_t counters_bytes = sizeof(Counters);
  std::uint32_t snapshot_bytes = sizeof(Snapshot);

  const char* name = nullptr;     ///< of the unit, such as that of the RTL's top module
  const char* backend = nullptr;  ///< what runs it, with its version
  Parameters parameters;
  PluginWidths widths;

  /// Makes one unit, out of reset, and stores the outputs of cycle 0. Registers that reset leaves
  /// alone begin as zeros when `seed` is 0, else at random by it. Null when it cannot be made.
  void* (*create)(std::uint64_t seed, Outputs* outputs) = nullptr;
  void (*destroy)(void* unit) = nullptr;
  /// Resets the unit and its counters; stores the outputs of cycle 0. Returns as `step` does.
  int (*reset)(void* unit, Outputs* outputs) = nullptr;
  /// Runs one cycle with these inputs and stores the outputs of the next. 0, or something else when
  /// the unit found a fault in itself, such as an assertion that fails; error() says which.
  int (*step)(void* unit, const Inputs* inputs, Outputs* outputs) = nullptr;
  /// One line on the last fault; lives until the next call.
  const char* (*error)(void* unit) = nullptr;

  /// Null when the unit does not count.
  void (*counters)(void* unit, Counters* counters) = nullptr;
  /// Registers of a queue as QUERY would show them. Null when the unit does not show them.
  void (*snapshot)(void* unit, std::uint32_t queue, Snapshot* snapshot) = nullptr;
  /// Not 0 when nothing will change without a valid input, though the unit may not be `idle`: the
  /// head of its fetch FIFO may wait for lines. Null when the unit does not tell.
  int (*at_rest)(void* unit) = nullptr;
};

/// Type of the exported function. It returns the same table in each call.
using PluginFunction = const Plugin* (*)();

}  // namespace hcasim::hw::rq
