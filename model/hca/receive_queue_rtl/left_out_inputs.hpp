// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hcasim/hw/receive_queue_ports.hpp>

namespace hcasim::hca {

/// What the inputs are in cycles that whoever steps a unit leaves out. In such a cycle no handshake
/// happens: what waited for its ready goes on waiting, and what waits on an output is not accepted.
class LeftOutInputs {
 public:
  /// Takes note of a cycle that was stepped: its inputs, its outputs and those of the next cycle.
  void after(const hw::rq::Inputs& in, const hw::rq::Outputs& now, const hw::rq::Outputs& next) {
    in_.cmd_valid = in.cmd_valid && !now.cmd_ready;
    in_.doorbell_valid = in.doorbell_valid && !now.doorbell_ready;
    in_.take_valid = in.take_valid && !now.take_ready;
    if (in_.cmd_valid) in_.cmd = in.cmd;
    if (in_.doorbell_valid) in_.doorbell = in.doorbell;
    if (in_.take_valid) in_.take = in.take;
    in_.cmd_rsp_ready = in.cmd_rsp_ready && !next.cmd_rsp_valid;
    in_.dma_req_ready = in.dma_req_ready && !next.dma_req_valid;
    in_.take_rsp_ready = in.take_rsp_ready && !next.take_rsp_valid;
    in_.event_ready = in.event_ready && !next.event_valid;
  }

  const hw::rq::Inputs& inputs() const { return in_; }

 private:
  hw::rq::Inputs in_;
};

}  // namespace hcasim::hca
