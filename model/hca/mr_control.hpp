// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>

#include "hca/core.hpp"
#include "hcasim/hw/commands.hpp"
#include "sim/engine/unit.hpp"

namespace hcasim::hca {

/// The end of memory regions, one at a time. The key is dead at once, and queue pairs that answer
/// or receive by it go to ERR, of which events tell; those that send by it the driver knows itself.
///
/// Timing: the command ends when no access by DMA is under way that was begun before it. Reads for
/// packets and local operations are waited for, whosesoever, atomics are carried out; posted writes
/// come before the answer, as PCIe keeps their order. It is looked at each 64 cycles.
class MrControl final : public sim::Unit {
 public:
  /// Who is told that a region is no longer used.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void mr_unused() = 0;
  };

  explicit MrControl(Core& core) : Unit(core.engine, "mr_control"), core_(core) {}
  void set_listener(Listener& listener) { listener_ = &listener; }

  /// kPending: Listener::mr_unused follows.
  hw::CommandStatus destroy(std::uint32_t key);
  void on_event(std::uint64_t argument) override;

 private:
  // Where each unit that reads was when the key died.
  struct Marks {
    std::array<std::uint64_t, hw::kMaxPorts> sends{};
    std::array<std::uint64_t, hw::kMaxPorts> answers{};
    std::uint64_t atomics = 0;
    std::uint64_t registrations = 0;
  };

  bool uses(const QueuePair& qp, std::uint32_t key) const;
  bool passed() const;
  void look_again();

  Core& core_;
  Listener* listener_ = nullptr;
  Marks marks_;
};

}  // namespace hcasim::hca
