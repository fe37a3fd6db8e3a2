// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "hca/core.hpp"
#include "hca/mr_control.hpp"
#include "hca/qp_control.hpp"
#include "hca/srq_control.hpp"
#include "hcasim/hw/commands.hpp"
#include "pcie/dma.hpp"
#include "sim/engine/unit.hpp"

namespace hcasim::hca {

/// Carries out the commands of the control verbs, one at a time: reads the mailbox by DMA, acts,
/// writes status and output back, raises kCommandDone.
///
/// Timing: a command acts `latency` after its mailbox has arrived.
class CommandUnit : public sim::Unit,
                    public pcie::DmaClient,
                    public QpControl::Listener,
                    public SrqControl::Listener,
                    public MrControl::Listener {
 public:
  struct Counters {
    std::uint64_t commands = 0;
    std::uint64_t failed = 0;
  };

  explicit CommandUnit(Core& core);

  /// The driver wrote the address of a mailbox.
  void start(std::uint64_t mailbox);

  const Counters& counters() const { return counters_; }
  void on_event(std::uint64_t argument) override;
  void on_dma_read(std::uint64_t token, bool error) override;
  void qp_stopped(std::uint32_t qpn, std::uint32_t tail) override;
  void srq_done(hw::CommandStatus status, const hw::SrqContext& now) override;
  void mr_unused() override { finish(hw::CommandStatus::kOk); }

 private:
  void next();
  hw::CommandStatus dispatch();
  hw::CommandStatus query_device();
  hw::CommandStatus create_eq();
  hw::CommandStatus destroy_eq();
  hw::CommandStatus create_cq();
  hw::CommandStatus destroy_cq();
  hw::CommandStatus resize_cq();
  hw::CommandStatus modify_cq();
  hw::CommandStatus start_mr();
  void read_translation();
  hw::CommandStatus create_mr();
  hw::CommandStatus destroy_mr();
  hw::CommandStatus create_qp();
  hw::CommandStatus modify_qp();
  hw::CommandStatus query_qp();
  hw::CommandStatus destroy_qp();
  hw::CommandStatus create_srq();
  hw::CommandStatus modify_srq();
  hw::CommandStatus query_srq();
  hw::CommandStatus destroy_srq();
  hw::CommandStatus query_port();
  hw::CommandStatus attach_mcast();
  hw::CommandStatus detach_mcast();
  void finish(hw::CommandStatus status);

  Core& core_;
  Fifo<std::uint64_t> waiting_;  // mailbox addresses
  hw::Mailbox mailbox_{};
  std::uint64_t address_ = 0;
  std::vector<std::uint64_t> pages_;
  std::uint32_t pages_read_ = 0;
  std::uint32_t destroying_ = kNone;
  bool busy_ = false;
  Counters counters_;
};

}  // namespace hcasim::hca
