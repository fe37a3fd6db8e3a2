// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>

#include "hcasim/hw/time.hpp"
#include "hcasim/sim/trace_operation.hpp"

namespace hcasim::sim {

/// Number of a label's definition on its node; kNoInstance: none.
using LabelInstance = std::uint32_t;
inline constexpr LabelInstance kNoInstance = 0xffff'ffff;

/// All of a work item but its SGEs.
struct WorkFields {
  bool is_send = false;
  bool wr_id_given = false;
  bool remote_named = false;  ///< remote_mr and remote_offset count
  bool addr_given = false;    ///< remote_addr replaces what follows from them
  bool rkey_given = false;
  bool invalidate_named = false;
  bool iova_given = false;  ///< REG_MR
  Timing timing = Timing::kAsap;
  SendOpcode opcode = SendOpcode::kSend;
  std::uint16_t peer = 0;   ///< the node that peer_control is of, by index
  std::uint32_t flags = 0;  ///< OperationFlag
  NameId queue = kNoName;   ///< the QP
  NameId remote_mr = kNoName;
  NameId invalidate = kNoName;
  NameId mr = kNoName;  ///< REG_MR
  std::uint32_t rkey = 0;
  std::uint32_t imm = 0;
  LabelInstance label = kNoInstance;
  LabelInstance after = kNoInstance;
  std::uint32_t own_control = 0;   ///< control line of the node that must have come before, ...
  std::uint32_t peer_control = 0;  ///< ... and of a peer; 0: none
  std::uint32_t access = 0;        ///< REG_MR
  std::uint32_t num_sge = 0;       ///< SGEs in use
  hw::Time time = 0;
  std::uint64_t wr_id = 0;
  std::uint64_t remote_offset = 0;
  std::uint64_t remote_addr = 0;
  std::uint64_t compare_add = 0;
  std::uint64_t swap = 0;
  std::uint64_t line = 0;
  std::uint64_t length = 0;  ///< REG_MR; 0: all of it
  std::uint64_t iova = 0;    ///< REG_MR
};

/// A data operation that waits for its turn: what of a trace's line a post needs, and no more.
struct WorkItem : WorkFields {
  std::array<Sge, kMaxSges> sges;  ///< those past num_sge mean nothing

  WorkItem() = default;
  WorkItem(const WorkItem& other) : WorkFields(other) { copy_sges(other); }
  WorkItem& operator=(const WorkItem& other) {
    WorkFields::operator=(other);
    copy_sges(other);
    return *this;
  }

  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < num_sge; ++i) sum += sges[i].length;
    return sum;
  }

 private:
  void copy_sges(const WorkItem& other) {
    for (std::uint32_t i = 0; i < num_sge; ++i) sges[i] = other.sges[i];
  }
};

/// What a node's source of operations delivers.
enum class SourceItem : std::uint8_t {
  kEnd,
  kWork,
  kControl,      ///< a control line of the node; connect is one of both nodes
  kPeerControl,  ///< one of other nodes, which posts of the node may wait for
};

/// Where the operations of one node come from, in order.
class OperationSource {
 public:
  virtual ~OperationSource() = default;
  /// Fills `work` (labels unresolved: see `operation`) or points `operation` at a control line.
  virtual SourceItem next(WorkItem& work, const Operation*& operation) = 0;
  /// Operations to hold ahead of their turn, so that each queue finds its next ones.
  virtual std::uint32_t read_ahead() const { return 4096; }
};

/// Takes over what a post needs from a line; labels are for the caller to resolve.
void to_work_item(const Operation& operation, WorkItem& work);

}  // namespace hcasim::sim
