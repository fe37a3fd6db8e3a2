// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "hcasim/rvt/verbs.hpp"
#include "support/call_from/entrance.hpp"

namespace hcasim::support {

/// The data verbs under their own names, called from where HCASIM_CALL_FROM says. In a fixture that
/// derives from this they are found before those of rvt.
class DataVerbs {
 protected:
  /// What `verb()` returns, called like a data verb of this device.
  template <typename Verb>
  static auto call(rvt::ib_device* device, Verb verb) {
    decltype(verb()) result{};
    Entrance::call(*rvt::ib_to_rvt(device), [&] { result = verb(); });
    return result;
  }

  static int ib_post_send(rvt::ib_qp* qp, const rvt::ib_send_wr* wr,
                          const rvt::ib_send_wr** bad_wr) {
    return call(qp->device, [&] { return rvt::ib_post_send(qp, wr, bad_wr); });
  }
  static int ib_post_recv(rvt::ib_qp* qp, const rvt::ib_recv_wr* wr,
                          const rvt::ib_recv_wr** bad_wr) {
    return call(qp->device, [&] { return rvt::ib_post_recv(qp, wr, bad_wr); });
  }
  static int ib_post_srq_recv(rvt::ib_srq* srq, const rvt::ib_recv_wr* wr,
                              const rvt::ib_recv_wr** bad_wr) {
    return call(srq->device, [&] { return rvt::ib_post_srq_recv(srq, wr, bad_wr); });
  }
  static int ib_poll_cq(rvt::ib_cq* cq, int entries, rvt::ib_wc* wc) {
    return call(cq->device, [&] { return rvt::ib_poll_cq(cq, entries, wc); });
  }
  static int ib_req_notify_cq(rvt::ib_cq* cq, std::uint32_t flags) {
    return call(cq->device, [&] { return rvt::ib_req_notify_cq(cq, flags); });
  }
  static rvt::ib_ah* rdma_create_ah(rvt::ib_pd* pd, const rvt::rdma_ah_attr* attr) {
    return call(pd->device, [&] { return rvt::rdma_create_ah(pd, attr); });
  }
};

}  // namespace hcasim::support
