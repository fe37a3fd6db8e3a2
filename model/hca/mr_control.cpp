// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/mr_control.hpp"

#include <algorithm>

#include "hca/atomic_unit.hpp"
#include "hca/local_operations.hpp"
#include "hca/qp_control.hpp"
#include "hca/requester.hpp"
#include "hca/responder.hpp"
#include "hca/response_unit.hpp"

namespace hcasim::hca {

namespace {

// How often a region that ends is looked at again.
constexpr std::uint64_t kFencePollCycles = 64;

bool receives_by(const TakenWqe& wqe, std::uint32_t key) {
  const auto end = wqe.sges.begin() + wqe.num_sge;
  return std::any_of(wqe.sges.begin(), end, [key](const hw::Sge& sge) { return sge.lkey == key; });
}

}  // namespace

hw::CommandStatus MrControl::destroy(std::uint32_t key) {
  const MemoryRegion* region = core_.contexts.memory.find(key);
  if (region == nullptr) return hw::CommandStatus::kBadObject;
  core_.caches.translation.drop(*region);
  core_.contexts.memory.destroy(key);
  core_.contexts.qps.for_each([&](QueuePair& qp) {
    if (uses(qp, key)) core_.qp_control->fail(qp, hw::WcStatus::kLocProtErr);
  });
  marks_ = {core_.requester->transmit_queues().ends(), core_.response->transmit_queues().ends(),
            core_.atomic->begun(), core_.local->begun()};
  if (passed()) return hw::CommandStatus::kOk;
  look_again();
  return hw::CommandStatus::kPending;
}

// In the middle of a message, or with an answer to give.
bool MrControl::uses(const QueuePair& qp, std::uint32_t key) const {
  const ReceiveState& receive = qp.receive;
  if (receive.receiving == Receiving::kWrite && receive.write_rkey == key) return true;
  if (receive.rwqe != nullptr && receives_by(*receive.rwqe, key)) return true;
  return ResponseUnit::reads_by(qp, key);
}

bool MrControl::passed() const {
  return !core_.requester->transmit_queues().reads_before(marks_.sends) &&
         !core_.response->transmit_queues().reads_before(marks_.answers) &&
         core_.atomic->ended() >= marks_.atomics && core_.local->ended() >= marks_.registrations;
}

void MrControl::look_again() {
  schedule(core_.clock.edge_after(now()) + core_.clock.cycles(kFencePollCycles));
}

void MrControl::on_event(std::uint64_t) {
  passed() ? listener_->mr_unused() : look_again();
}

}  // namespace hcasim::hca
