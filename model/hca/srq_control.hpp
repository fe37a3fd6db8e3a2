// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "hca/core.hpp"
#include "hca/shared_queue.hpp"
#include "hcasim/hw/commands.hpp"
#include "hcasim/hw/receive_queue_ports.hpp"

namespace hcasim::hca {

/// The life of a shared receive queue: commands of the driver as those of the receive-queue unit,
/// one at a time. Each answers at once with a refusal, or kPending: Listener::srq_done follows.
class SrqControl {
 public:
  /// Who is told that a command has been carried out.
  class Listener {
   public:
    virtual ~Listener() = default;
    /// `now`: the queue as it is then.
    virtual void srq_done(hw::CommandStatus status, const hw::SrqContext& now) = 0;
  };

  explicit SrqControl(Core& core) : core_(core) {}
  void set_listener(Listener& listener) { listener_ = &listener; }

  hw::CommandStatus create(const hw::SrqContext& context);
  hw::CommandStatus modify(std::uint32_t srqn, const hw::SrqContext& context, std::uint32_t mask);
  hw::CommandStatus query(std::uint32_t srqn);
  /// Refused while queue pairs use it.
  hw::CommandStatus destroy(std::uint32_t srqn);
  /// The receive-queue unit has carried out a command.
  void answered(SharedQueue& srq, const hw::rq::Command& command,
                const hw::rq::CommandAnswer& answer);

 private:
  void take_over(SharedQueue& srq, const hw::rq::Command& command);

  Core& core_;
  Listener* listener_ = nullptr;
  std::optional<hw::rq::Command> then_;  // once the present one has succeeded
};

}  // namespace hcasim::hca
