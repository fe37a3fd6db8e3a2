// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "traffic.hpp"

namespace hcasim::faults {

/// A message of a direction and what became of it.
struct RcMessage {
  rvt::ib_wr_opcode opcode = rvt::IB_WR_SEND;
  std::uint32_t bytes = 0;
  std::uint32_t imm = 0;
  std::uint64_t local = 0;   ///< offset in the sender's region
  std::uint64_t remote = 0;  ///< offset in the receiver's region
  bool fence = false;
  bool inline_data = false;
  bool completed = false;
  rvt::ib_wc_status status = rvt::IB_WC_SUCCESS;

  bool consumes_receive() const;
  bool is_atomic() const {
    return opcode == rvt::IB_WR_ATOMIC_FETCH_AND_ADD || opcode == rvt::IB_WR_ATOMIC_CMP_AND_SWP;
  }
};

/// One reliable connection under load. RC promises that every message is carried out once and in
/// order, or that the first that was not completes with an error and all behind it are flushed.
class RcTraffic final : public Traffic {
 public:
  using Traffic::Traffic;

  static std::uint32_t areas(const Plan& plan) { return 2 * (plan.messages + 1); }

  void prepare() override;
  void run(std::size_t node) override;
  bool take(std::size_t node, const rvt::ib_wc& wc) override;
  void check() override;
  std::uint32_t ended_with(rvt::ib_wc_status status) const override;

 private:
  /// From `node` to the other one.
  struct Direction {
    std::vector<RcMessage> messages;
    std::vector<std::uint32_t> received;  // message numbers in the order of completions
    std::vector<std::uint32_t> receives;  // of the messages that need one, in their order
    std::uint64_t counter = 0;            // offset of what the atomics count in
    std::uint32_t sends_completed = 0;
    rvt::ib_mr* fast = nullptr;  // of the receiver, for SEND_WITH_INV
    std::uint32_t fast_key = 0;
    bool receives_broken = false;  // the receiver's queue pair failed
  };

  RcMessage draw(Direction& direction, std::size_t node, std::uint32_t index);
  void register_fast(Direction& direction, std::size_t receiver);
  void fill(const RcMessage& message, std::size_t node);
  void post(std::size_t node, std::uint32_t index);
  void post_receive(std::size_t node, std::uint32_t index);
  void take_send(Direction& direction, const rvt::ib_wc& wc);
  void take_receive(Direction& direction, const rvt::ib_wc& wc);
  void check_order(const Direction& direction) const;
  void check_receives(const Direction& direction) const;
  void check_data(std::size_t node, const RcMessage& message);
  void check_counter(std::size_t node);

  std::array<Direction, 2> directions_;
};

}  // namespace hcasim::faults
