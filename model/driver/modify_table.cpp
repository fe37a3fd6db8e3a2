// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Which moves of a queue pair exist, and which attributes each needs or allows.
#include <initializer_list>

#include "hcasim/rvt/rdmavt_qp.hpp"

namespace hcasim::rvt {
namespace {

constexpr unsigned kStates = IB_QPS_ERR + 1;
constexpr unsigned kTypes = IB_QPT_UD + 1;

struct Move {
  bool valid = false;
  std::uint32_t required[kTypes] = {};
  std::uint32_t optional[kTypes] = {};
};

struct Table {
  Move moves[kStates][kStates];
};

constexpr std::uint32_t kAccess = IB_QP_ACCESS_FLAGS;
constexpr std::uint32_t kPkey = IB_QP_PKEY_INDEX;
constexpr std::uint32_t kConnectedPath = IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN;
constexpr std::uint32_t kResponder = IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
constexpr std::uint32_t kRequester =
    IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC;
constexpr std::uint32_t kMigration = IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE;

// Attributes of one move: RC, UC, UD, and the special types.
constexpr void set(std::uint32_t (&attributes)[kTypes], std::uint32_t rc, std::uint32_t uc,
                   std::uint32_t ud, std::uint32_t special) {
  attributes[IB_QPT_RC] = rc;
  attributes[IB_QPT_UC] = uc;
  attributes[IB_QPT_UD] = ud;
  attributes[IB_QPT_SMI] = special;
  attributes[IB_QPT_GSI] = special;
}

constexpr Table make_table() {
  Table table;
  auto& m = table.moves;
  for (unsigned from = 0; from < kStates; ++from) {
    m[from][IB_QPS_RESET].valid = true;
    m[from][IB_QPS_ERR].valid = from != IB_QPS_RESET;
  }

  constexpr std::uint32_t kPort = IB_QP_PORT;
  constexpr std::uint32_t kQkey = IB_QP_QKEY;
  Move& init = m[IB_QPS_RESET][IB_QPS_INIT];
  init.valid = true;
  set(init.required, kAccess | kPkey | kPort, kAccess | kPkey | kPort, kPkey | kPort | kQkey,
      kPkey | kQkey);
  Move& again = m[IB_QPS_INIT][IB_QPS_INIT];
  again.valid = true;
  set(again.optional, kAccess | kPkey | kPort, kAccess | kPkey | kPort, kPkey | kPort | kQkey,
      kPkey | kQkey);

  Move& rtr = m[IB_QPS_INIT][IB_QPS_RTR];
  rtr.valid = true;
  set(rtr.required, kConnectedPath | kResponder, kConnectedPath, 0, 0);
  set(rtr.optional, kAccess | kPkey | IB_QP_ALT_PATH, kAccess | kPkey | IB_QP_ALT_PATH,
      kPkey | kQkey, kPkey | kQkey);

  Move& rts = m[IB_QPS_RTR][IB_QPS_RTS];
  rts.valid = true;
  set(rts.required, kRequester | IB_QP_SQ_PSN, IB_QP_SQ_PSN, IB_QP_SQ_PSN, IB_QP_SQ_PSN);
  for (const ib_qp_state from : {IB_QPS_RTR, IB_QPS_RTS, IB_QPS_SQD}) {
    Move& run = m[from][IB_QPS_RTS];
    run.valid = true;
    const std::uint32_t uc = IB_QP_CUR_STATE | kAccess | kMigration;
    set(run.optional, uc | IB_QP_MIN_RNR_TIMER, uc, IB_QP_CUR_STATE | kQkey,
        IB_QP_CUR_STATE | kQkey);
  }

  Move& drain = m[IB_QPS_RTS][IB_QPS_SQD];
  drain.valid = true;
  constexpr std::uint32_t kNotify = IB_QP_EN_SQD_ASYNC_NOTIFY;
  set(drain.optional, kNotify, kNotify, kNotify, kNotify);
  Move& drained = m[IB_QPS_SQD][IB_QPS_SQD];
  drained.valid = true;
  set(drained.optional, kAccess | kPkey | kPort | IB_QP_AV | kRequester | kResponder | kMigration,
      kAccess | kPkey | IB_QP_AV | kMigration, kPkey | kQkey, kPkey | kQkey);

  Move& recover = m[IB_QPS_SQE][IB_QPS_RTS];
  recover.valid = true;
  set(recover.optional, 0, IB_QP_CUR_STATE | kAccess, IB_QP_CUR_STATE | kQkey,
      IB_QP_CUR_STATE | kQkey);
  return table;
}

constexpr Table kTable = make_table();

bool may_be_claimed(ib_qp_state state) {
  return state == IB_QPS_RTR || state == IB_QPS_RTS || state == IB_QPS_SQD || state == IB_QPS_SQE;
}

}  // namespace

bool ib_modify_qp_is_ok(ib_qp_state cur_state, ib_qp_state next_state, ib_qp_type type,
                        std::uint32_t mask) {
  if (cur_state >= kStates || next_state >= kStates || type >= kTypes) return false;
  if ((mask & IB_QP_CUR_STATE) != 0 && !may_be_claimed(cur_state)) return false;
  const Move& move = kTable.moves[cur_state][next_state];
  if (!move.valid) return false;
  const std::uint32_t required = move.required[type];
  const std::uint32_t allowed = required | move.optional[type] | IB_QP_STATE;
  return (mask & required) == required && (mask & ~allowed) == 0;
}

}  // namespace hcasim::rvt
