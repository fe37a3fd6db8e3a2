// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/ftrace/events.hpp"

#include <array>
#include <span>

namespace hcasim::sim::ftrace {
namespace {

// In the order of EventKind.
constexpr std::array<std::string_view, kEventKinds> kNames = {
    "rvt_dbg",
    "rvt_qpinsert",
    "rvt_qpremove",
    "rvt_rnrnak_add",
    "rvt_rnrnak_stop",
    "rvt_rnrnak_timeout",
    "rvt_post_one_wr",
    "rvt_qp_send_completion",
    "hfi1_qp_send_completion",
    "rvt_create_cq",
    "rvt_cq_enter",
    "rvt_cq_poll",
    "rvt_rc_timeout",
    "rvt_mr_page_seg",
    "rvt_mr_fmr_seg",
    "rvt_mr_user_seg",
    "rvt_sge_new",
    "rvt_sge_adjacent",
    "rvt_map_mr_sg",
};

struct Name {
  std::uint32_t number;
  std::string_view text;
};

// BIND_MW and the REG_MRs are not in the kernel's table.
constexpr Name kWrNames[] = {
    {0, "RDMA_WRITE"},
    {1, "RDMA_WRITE_WITH_IMM"},
    {2, "SEND"},
    {3, "SEND_WITH_IMM"},
    {4, "RDMA_READ"},
    {5, "ATOMIC_CMP_AND_SWP"},
    {6, "ATOMIC_FETCH_AND_ADD"},
    {7, "LOCAL_INV"},
    {9, "SEND_WITH_INV"},
    {10, "LSO"},
    {11, "RDMA_READ_WITH_INV"},
    {12, "MASKED_ATOMIC_CMP_AND_SWP"},
    {13, "MASKED_ATOMIC_FETCH_AND_ADD"},
    {0xf0, "RESERVED1"},
    {0xf1, "RESERVED2"},
    {0xf2, "RESERVED3"},
    {0xf3, "RESERVED4"},
    {0xf4, "RESERVED5"},
    {0xf5, "RESERVED6"},
    {0xf6, "RESERVED7"},
    {0xf7, "RESERVED8"},
    {0xf8, "RESERVED9"},
    {0xf9, "RESERVED10"},
};

// BIND_MW and MASKED_FETCH_ADD are not in the kernel's table.
constexpr Name kWcNames[] = {
    {0, "SEND"},
    {1, "RDMA_WRITE"},
    {2, "RDMA_READ"},
    {3, "COMP_SWAP"},
    {4, "FETCH_ADD"},
    {6, "LOCAL_INV"},
    {7, "LSO"},
    {8, "REG_MR"},
    {9, "MASKED_COMP_SWAP"},
    {128, "RECV"},
    {129, "RECV_RDMA_WITH_IMM"},
};

std::string_view find(std::span<const Name> names, std::uint32_t number) {
  for (const Name& name : names) {
    if (name.number == number) return name.text;
  }
  return {};
}

}  // namespace

std::string_view name_of(EventKind kind) {
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<EventKind> kind_of(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<EventKind>(i);
  }
  return std::nullopt;
}

Fields fields_of(EventKind kind) {
  switch (kind) {
    case EventKind::kDebug:
      return Debug{};
    case EventKind::kQpInsert:
    case EventKind::kQpRemove:
      return QpHash{};
    case EventKind::kRnrNakAdd:
    case EventKind::kRnrNakStop:
    case EventKind::kRnrNakTimeout:
      return RnrNak{};
    case EventKind::kPostOneWr:
      return PostOneWr{};
    case EventKind::kSendCompletion:
    case EventKind::kHfi1SendCompletion:
      return SendCompletion{};
    case EventKind::kCreateCq:
      return CreateCq{};
    case EventKind::kCqEnter:
    case EventKind::kCqPoll:
      return CqEntry{};
    case EventKind::kRcTimeout:
      return RcTimeout{};
    case EventKind::kMrPageSeg:
    case EventKind::kMrFmrSeg:
    case EventKind::kMrUserSeg:
      return MrSegment{};
    case EventKind::kSgeNew:
    case EventKind::kSgeAdjacent:
      return SgeCheck{};
    case EventKind::kMapMrSg:
      return MapMrSg{};
  }
  return Debug{};
}

std::string_view wr_opcode_name(std::uint32_t opcode) {
  return find(kWrNames, opcode);
}
std::string_view wc_opcode_name(std::uint32_t opcode) {
  return find(kWcNames, opcode);
}

}  // namespace hcasim::sim::ftrace
