// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "traffic.hpp"

namespace hcasim::faults {

/// A message of a direction and what became of it.
struct UnreliableMessage {
  rvt::ib_wr_opcode opcode = rvt::IB_WR_SEND;
  std::uint32_t bytes = 0;
  std::uint64_t area = 0;  ///< offset of the data at the sender, and of a WRITE's at the receiver
  bool inline_data = false;
  std::uint32_t received = 0;  ///< receives that completed with it

  bool has_immediate() const {
    return opcode == rvt::IB_WR_SEND_WITH_IMM || opcode == rvt::IB_WR_RDMA_WRITE_WITH_IMM;
  }
  bool is_write() const {
    return opcode == rvt::IB_WR_RDMA_WRITE || opcode == rvt::IB_WR_RDMA_WRITE_WITH_IMM;
  }
};

/// A pair of queue pairs of UC or UD under load. They promise little: that every send completes;
/// that a receive completes with the bytes of one message, whole, and on UC in order; and that what
/// was lost costs nothing but itself. A link that doubles packets or lets them change places may
/// double messages or let them change places, for neither service looks back.
class UnreliableTraffic final : public Traffic {
 public:
  using Traffic::Traffic;
  ~UnreliableTraffic() override;

  /// Each message has one and each receive; so have the messages that use up the receives.
  static std::uint32_t areas(const Plan& plan) { return 6 * plan.messages; }

  void prepare() override;
  void run(std::size_t node) override;
  bool take(std::size_t node, const rvt::ib_wc& wc) override;
  void check() override;
  std::uint32_t ended_with(rvt::ib_wc_status status) const override;

 private:
  struct Receive {
    std::uint64_t area = 0;
    std::uint32_t bytes = 0;
  };
  /// From `node` to the other one.
  struct Direction {
    std::vector<UnreliableMessage> messages;
    std::vector<Receive> receives;
    std::vector<rvt::ib_wc_status> ends;  // of sends
    std::size_t receives_posted = 0;
    std::size_t receives_completed = 0;
    bool receives_broken = false;  // the receiver's queue pair failed
    std::uint32_t next_in_order = 0;
    rvt::ib_ah* ah = nullptr;
  };

  bool datagrams() const { return plan_.pair.type == rvt::IB_QPT_UD; }
  std::uint32_t header_bytes() const;
  UnreliableMessage draw();
  void add(std::size_t node, UnreliableMessage message);
  void fill(std::size_t node, std::uint32_t index);
  void post(std::size_t node, std::uint32_t index);
  void post_receives(std::size_t node, std::size_t count);
  void take_receive(std::size_t node, const rvt::ib_wc& wc);
  std::uint32_t index_of(std::size_t node, const Receive& receive, const rvt::ib_wc& wc);
  void expect_whole(std::size_t node, const UnreliableMessage& message, std::uint64_t at);
  void expect_in_order(Direction& direction, std::uint32_t index);
  void check_write(std::size_t node, const UnreliableMessage& message);
  void use_left_receives(std::size_t node);

  std::array<Direction, 2> directions_;
};

}  // namespace hcasim::faults
