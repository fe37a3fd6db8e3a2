// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// What the driver takes of a shared queue, for messages that it loops back.
#include <algorithm>

#include "hca/event_unit.hpp"
#include "hca/receive_queue_port.hpp"
#include "hcasim/hw/bar.hpp"

namespace hcasim::hca {

bool ReceiveQueuePort::take_doorbell(std::uint32_t srqn, std::uint32_t tag) {
  SharedQueue* srq = core_.contexts.srq(srqn);
  if (srq == nullptr) return false;
  srq->take_tag = tag;
  take({srq->rq_number, srqn, hw::rq::TakeKind::kTake});
  return true;
}

// The WQE goes to the driver's record before the event that tells of it, and before the tail that
// gives its slot back: then nothing depends on the slot any more.
void ReceiveQueuePort::answer_driver(const hw::rq::TakeBeat& beat,
                                     std::span<const std::uint8_t> wqe) {
  const SharedQueue* srq = core_.contexts.srq(beat.tag);
  if (srq == nullptr) return;
  constexpr unsigned kStatusBits = 8;
  hw::Eqe eqe{};
  eqe.type = hw::EqeType::kTakeGrant;
  eqe.number = beat.tag;
  eqe.value = srq->take_tag << kStatusBits | static_cast<std::uint32_t>(beat.status);
  if (!wqe.empty()) {
    const std::uint32_t elements = hw::load<hw::ReceiveWqe>(wqe.data()).num_sge;
    const std::uint64_t used = sizeof(hw::ReceiveWqe) + elements * sizeof(hw::Sge);
    core_.dma.write(srq->context.take_record, wqe.data(),
                    static_cast<std::uint32_t>(std::min<std::uint64_t>(used, srq->context.stride)));
    publish_tail(*srq);
    eqe.value2 = beat.slot;
  }
  core_.event->raise(eqe);
}

}  // namespace hcasim::hca
