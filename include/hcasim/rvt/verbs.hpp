// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hcasim/rvt/device.hpp"
#include "hcasim/rvt/err_ptr.hpp"
#include "hcasim/rvt/ib_enums.hpp"
#include "hcasim/rvt/ib_objects.hpp"
#include "hcasim/rvt/ib_work.hpp"
#include "hcasim/rvt/rdmavt_port.hpp"

/// The verbs, as a kernel consumer calls them: the kernel's core layer (use counts, pointers
/// checked, objects allocated and freed) over the rvt functions.
///
/// Control verbs (create, modify, query and destroy, registration) take simulated time and may only
/// be called from tasks (hw::HostPort::start_task). Data verbs (post, poll, request a notification)
/// never wait and may be called from anywhere, interrupt handlers included.
///
/// Addresses are those of host memory: the address that hw::HostPort::allocate returned is both
/// what a region is registered with and, for inline data, where the CPU reads.
namespace hcasim::rvt {

// --- Protection domains -------------------------------------------------------------------------

/// Makes a protection domain. Tasks only.
/// @return it, or ERR_PTR: -ENOMEM when max_pd exist
ib_pd* ib_alloc_pd(ib_device* device);
/// @return 0; -EBUSY while an object uses it
int ib_dealloc_pd(ib_pd* pd);

// --- Memory regions -----------------------------------------------------------------------------

/// Registers [start, start + length) of host memory, contiguous. Tasks only.
/// @param virt_addr address of the first byte as work requests and the peer name it
/// @param access ib_access_flags
/// @return it, or ERR_PTR: -EINVAL length 0, an address that overflows, an unknown right or remote
///   write or atomic access without local write; -ENOMEM table full or no memory; -EIO
ib_mr* ib_reg_user_mr(ib_pd* pd, std::uint64_t start, std::uint64_t length, std::uint64_t virt_addr,
                      std::uint32_t access);
/// Makes a region without memory, for REG_MR to register. Tasks only. Until then its key cannot be
/// used; afterwards LOCAL_INV, or SEND_WITH_INV of the peer, makes it so again.
/// @param mr_type IB_MR_TYPE_MEM_REG
/// @param max_num_sg pages that it can map, 1..max_fast_reg_page_list_len
/// @return it, or ERR_PTR: -EINVAL; -ENOMEM table full or no memory; -EIO
ib_mr* ib_alloc_mr(ib_pd* pd, ib_mr_type mr_type, std::uint32_t max_num_sg);
/// Maps memory into a region made by ib_alloc_mr and sets mr->iova and mr->length; nobody can use
/// that before the next REG_MR. Any context, but not while a REG_MR of the region is pending: the
/// adapter reads the mapping then. All elements but the first begin, and all but the last end, at a
/// page or where their neighbour does.
/// @param sg_offset bytes of the first element to leave out, may be null; afterwards the bytes of
///   the first element that was not mapped whole that were mapped
/// @param page_size bytes, the one of page_size_cap
/// @return elements mapped whole: fewer than sg_nents when the region is full or an element does
///   not fit to its neighbour; -EINVAL region or page size
int ib_map_mr_sg(ib_mr* mr, const scatterlist* sg, int sg_nents, unsigned* sg_offset,
                 unsigned page_size);
/// The next key in the 8 bits that belong to the consumer.
constexpr std::uint32_t ib_inc_rkey(std::uint32_t rkey) {
  return (rkey & 0xffff'ff00) | ((rkey + 1) & 0xff);
}
/// Deregisters; queue pairs whose pending work uses it go to ERR. Tasks only.
/// @return 0; -EBUSY when the adapter still uses it after params.dereg_timeout, it then stays
int ib_dereg_mr(ib_mr* mr);

// --- Address handles ----------------------------------------------------------------------------

/// Makes an address handle: where datagrams go. Any context.
/// @return it, or ERR_PTR: -EINVAL path; -ENOMEM when max_ah exist
ib_ah* rdma_create_ah(ib_pd* pd, const rdma_ah_attr* attr);
/// Changes the path; sends that are posted keep theirs. Any context.
/// @return 0; -EINVAL path
int rdma_modify_ah(ib_ah* ah, const rdma_ah_attr* attr);
/// Reads the path. Any context. @return 0
int rdma_query_ah(ib_ah* ah, rdma_ah_attr* attr);
/// Attaches a UD queue pair to a multicast group: it gets a copy of each datagram to the group, its
/// own included. Attaching it again changes nothing. It cannot be destroyed before it is detached
/// (with rvt_driver_params::rdmavt_compat as often as it was attached, which cannot be done).
/// @param lid InfiniBand only
/// @return as rvt_attach_mcast; -EINVAL no UD queue pair, or a GID that is not in ff00::/8
int ib_attach_mcast(ib_qp* qp, const ib_gid* gid, std::uint16_t lid);
/// Undoes it. @return as rvt_detach_mcast; -EINVAL as ib_attach_mcast
int ib_detach_mcast(ib_qp* qp, const ib_gid* gid, std::uint16_t lid);
/// Destroys; sends that are posted do not need it any more. Any context. @return 0
int rdma_destroy_ah(ib_ah* ah);

// --- Completion queues --------------------------------------------------------------------------

/// Makes a completion queue. Tasks only.
/// @param comp_handler called for armed notifications, may be null
/// @param event_handler called for IB_EVENT_CQ_ERR, may be null
/// @param context handed to both handlers
/// @return it, or ERR_PTR: -EOPNOTSUPP flags set; -EINVAL cqe out of range; -ENOMEM; -EIO
ib_cq* ib_create_cq(ib_device* device, ib_comp_handler comp_handler,
                    ib_event_handler_t event_handler, void* context, const ib_cq_init_attr* attr);
/// @return 0; -EBUSY while a queue pair uses it. Tasks only.
int ib_destroy_cq(ib_cq* cq);
/// Gives the queue room for `cqe` completions; those that wait, and what was armed, stay. Tasks
/// only.
/// @return 0; -EINVAL cqe out of range, or more completions wait; -ENOMEM; -EIO. On an error
/// nothing
///   has changed
int ib_resize_cq(ib_cq* cq, int cqe);
/// Moderates the queue's notifications: an armed one comes with the `cq_count`-th completion since,
/// or `cq_period` us after the first, whichever is earlier; with the first if either is 0.
/// Solicited and failed completions, and those that the driver itself makes, do not wait. Tasks
/// only.
/// @return 0; -EINVAL cq_period above attrs.cq_caps.max_cq_moderation_period; -EIO
int rdma_set_cq_moderation(ib_cq* cq, std::uint16_t cq_count, std::uint16_t cq_period);
/// Takes up to `entries` completions, oldest first. Any context.
/// @return how many were taken
int ib_poll_cq(ib_cq* cq, int entries, ib_wc* wc);
/// Asks for one notification: of the next completion, or of the next solicited or failed one. Any
/// context. Completions that are already there do not count.
/// @param flags IB_CQ_SOLICITED or IB_CQ_NEXT_COMP, with or without IB_CQ_REPORT_MISSED_EVENTS
/// @return 1 when missed events are to be reported and there are completions; otherwise 0
int ib_req_notify_cq(ib_cq* cq, std::uint32_t flags);

// --- Ports
// ----------------------------------------------------------------------------------------

/// Reads state and limits of a port: see rvt_query_port. Tasks only.
/// @param port_num 1-based
/// @return 0; -EINVAL no such port; -EIO
int ib_query_port(ib_device* device, std::uint32_t port_num, ib_port_attr* port_attr);

// --- Shared receive queues ----------------------------------------------------------------------

/// Makes a shared receive queue. Tasks only.
/// @param attr its handler takes IB_EVENT_SRQ_LIMIT_REACHED and IB_EVENT_SRQ_ERR
/// @return it, or ERR_PTR with the errors of rvt_create_srq
ib_srq* ib_create_srq(ib_pd* pd, const ib_srq_init_attr* attr);
/// Changes size (IB_SRQ_MAX_WR), limit (IB_SRQ_LIMIT) or both: see rvt_modify_srq. Tasks only.
/// @return 0; -EINVAL; -ENOMEM; -EIO
int ib_modify_srq(ib_srq* srq, const ib_srq_attr* attr, std::uint32_t mask);
/// Reads the attributes; srq_limit is 0 once the event has fired. Any context; outside a task it is
/// 0 only once the event was raised.
/// @return 0
int ib_query_srq(ib_srq* srq, ib_srq_attr* attr);
/// Destroys it; the receives it holds vanish. Tasks only.
/// @return 0; -EBUSY while a queue pair uses it
int ib_destroy_srq(ib_srq* srq);
/// Posts a list of receives, with one doorbell, whatever state queue pairs are in. Any context.
/// `bad_wr` may be null.
/// @return 0, or the errno of the first request that was not posted: -EINVAL too many elements,
///   -ENOMEM full; it goes to `*bad_wr`, and those before it are posted
int ib_post_srq_recv(ib_srq* srq, const ib_recv_wr* wr, const ib_recv_wr** bad_wr);

// --- Queue pairs --------------------------------------------------------------------------------

/// Makes a queue pair in RESET. Tasks only. `attr->cap` is written back as it was made.
/// @return it, or ERR_PTR with the errors of rvt_create_qp
ib_qp* ib_create_qp(ib_pd* pd, ib_qp_init_attr* attr);
/// Changes state and attributes: see rvt_modify_qp. Tasks only. The moves that connect an RC queue
/// pair need, beside IB_QP_STATE:
/// INIT: ACCESS_FLAGS, PKEY_INDEX, PORT; RTR: AV, PATH_MTU, DEST_QPN, RQ_PSN, MAX_DEST_RD_ATOMIC,
/// MIN_RNR_TIMER; RTS: TIMEOUT, RETRY_CNT, RNR_RETRY, MAX_QP_RD_ATOMIC, SQ_PSN. UC has no
/// RD_ATOMIC, timer or retry; UD needs PKEY_INDEX, PORT and QKEY for INIT, nothing for RTR, SQ_PSN
/// for RTS. A failed send of UC or UD leaves the queue pair in SQE, from where RTS makes it send
/// again.
/// @return 0; -EINVAL; -EOPNOTSUPP; -EIO
int ib_modify_qp(ib_qp* qp, ib_qp_attr* attr, int attr_mask);
/// Reads state and attributes; the mask is ignored. Any context; outside a task rq_psn is that of
/// the last modify.
/// @return 0
int ib_query_qp(ib_qp* qp, ib_qp_attr* attr, int attr_mask, ib_qp_init_attr* init_attr);
/// Destroys in any state, without completions for what is outstanding. Tasks only.
/// @return 0; -EBUSY while something uses it
int ib_destroy_qp(ib_qp* qp);

/// Posts a list of sends, with one doorbell. Any context. `bad_wr` may be null.
/// @return 0, or the errno of the first request that was not posted, which goes to `*bad_wr`; those
///   before it are posted
int ib_post_send(ib_qp* qp, const ib_send_wr* wr, const ib_send_wr** bad_wr);
/// The same for receives. A queue pair with an SRQ has no queue of its own: -EINVAL.
int ib_post_recv(ib_qp* qp, const ib_recv_wr* wr, const ib_recv_wr** bad_wr);

}  // namespace hcasim::rvt
