// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hcasim/rvt/ib_objects.hpp"

/// What whoever builds on the driver may have a say in: rdmavt's structure of the same name.
namespace hcasim::rvt {

struct rvt_ah;
struct rvt_dev_info;
struct rvt_qp;
struct rvt_qpn_table;
struct rvt_swqe;

/// Runs the send engine of a looped-back queue pair in the caller's context, no lock held.
void rvt_do_send(rvt_qp* qp);
/// Lets it run once the present activity is over. Any context, with or without s_lock.
void rvt_schedule_send(rvt_qp* qp);

/// Functions that the driver calls where rdmavt calls those of its hardware driver. All but the
/// first three are optional. They are set in rvt_dev_info::driver_f between rvt_alloc_device and
/// rvt_register_device. Unless said otherwise they are called in the context of the verb, with the
/// queue pair's mutex held, and must neither wait nor call verbs of the same queue pair.
struct rvt_driver_provided {
  /// Called for the send engine of looped-back queue pairs: for a short send alone on an idle
  /// queue,
  void (*do_send)(rvt_qp* qp) = rvt_do_send;
  /// when there is more to send, s_lock held,
  void (*schedule_send)(rvt_qp* qp) = rvt_schedule_send;
  /// or not held.
  void (*schedule_send_no_lock)(rvt_qp* qp) = rvt_schedule_send;

  /// Picks the number of a queue pair in alloc_qpn's place, SMI and GSI included.
  /// @return 24 bits that no queue pair has (else rvt_create_qp answers -EINVAL); a negative errno,
  ///   which rvt_create_qp returns
  int (*alloc_qpn)(rvt_dev_info* rdi, rvt_qpn_table* qpt, ib_qp_type type,
                   std::uint32_t port_num) = nullptr;

  /// Makes rvt_qp::priv: after the send ring, before the receive ring and the number. Needs
  /// qp_priv_free.
  /// @return it, may be null; ERR_PTR, whose errno rvt_create_qp returns
  void* (*qp_priv_alloc)(rvt_dev_info* rdi, rvt_qp* qp) = nullptr;
  /// Completes it once the queue pair has its number, before queue pairs are counted against
  /// max_qp.
  /// @return 0; a negative errno, which rvt_create_qp returns after qp_priv_free
  int (*qp_priv_init)(rvt_dev_info* rdi, rvt_qp* qp, ib_qp_init_attr* init_attr) = nullptr;
  /// Frees rvt_qp::priv: when destroyed, and when creation fails after qp_priv_alloc; before the
  /// send ring goes. Needs qp_priv_alloc.
  void (*qp_priv_free)(rvt_dev_info* rdi, rvt_qp* qp) = nullptr;

  /// Looks at each send once everything else has accepted it; s_hlock held, any context.
  /// @param wqe what will be remembered of the send, its sequence numbers included
  /// @param call_send may be changed
  /// @return 0; a negative errno, which the post returns: nothing has changed then
  int (*setup_wqe)(rvt_qp* qp, const rvt_swqe* wqe, bool* call_send) = nullptr;

  /// Looks at a modification that the table of moves allows, before its values are checked.
  /// @return 0; anything else makes rvt_modify_qp answer -EINVAL
  int (*check_modify_qp)(rvt_qp* qp, ib_qp_attr* attr, int attr_mask, ib_udata* udata) = nullptr;
  /// Tells of a modification that has been made, before packets can find the queue pair and before
  /// events of it.
  void (*modify_qp)(rvt_qp* qp, ib_qp_attr* attr, int attr_mask, ib_udata* udata) = nullptr;
  /// Tells that a queue pair is stopped and about to lose its contents, as it goes to RESET or is
  /// destroyed; not when it is in RESET already.
  void (*notify_qp_reset)(rvt_qp* qp) = nullptr;
  /// Tells that a queue pair has come to ERR, once each time, whoever moved it there; r_lock and
  /// s_lock held, any context. Its completions as flushed come later.
  void (*notify_error_qp)(rvt_qp* qp) = nullptr;

  /// Looks at a path after rvt_check_ah has. Any context, no lock.
  /// @return 0; a negative errno
  int (*check_ah)(ib_device* ibdev, const rdma_ah_attr* ah_attr) = nullptr;
  /// Tells of a new address handle, whose log_pmtu it may lower. Any context, no lock.
  void (*notify_new_ah)(ib_device* ibdev, const rdma_ah_attr* ah_attr, rvt_ah* ah) = nullptr;
  /// Picks rvt_cq::comp_vector_cpu of a completion queue. No lock.
  int (*comp_vect_cpu_lookup)(rvt_dev_info* rdi, int comp_vect) = nullptr;
};

}  // namespace hcasim::rvt
