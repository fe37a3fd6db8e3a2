// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/replay/cq_poller.hpp"

#include "hcasim/rvt/rdmavt_cq.hpp"

namespace hcasim::sim {

void CqPoller::add(NameId name, TraceCq& cq) {
  Polled& polled = cqs_.emplace_back();
  polled = {this, name, &cq, true, 0};
  ready_.push(&polled);
  rvt::ibcq_to_rvtcq(cq.cq)->entered = {&CqPoller::entered, &polled, 0};
}

void CqPoller::remove(NameId name) {
  for (Polled& polled : cqs_) {
    if (polled.name == name) polled.cq = nullptr;
  }
}

std::span<const rvt::ib_wc> CqPoller::poll(const TraceCq& cq) {
  const int count = rvt::ib_poll_cq(cq.cq, kBatch, wcs_.data());
  return {wcs_.data(), static_cast<std::size_t>(count > 0 ? count : 0)};
}

std::span<const rvt::ib_wc> CqPoller::poll() {
  while (!ready_.empty()) {
    Polled& polled = *ready_.front();
    if (polled.cq != nullptr) {
      const std::span<const rvt::ib_wc> completions = poll(*polled.cq);
      if (!completions.empty()) return completions;
    }
    ready_.pop();
    polled.ready = false;
    watch(polled);
  }
  return {};
}

std::span<const rvt::ib_wc> CqPoller::poll_entered() {
  for (const Polled& polled : cqs_) {
    if (polled.cq == nullptr || rvt::ibcq_to_rvtcq(polled.cq->cq)->count == 0) continue;
    return poll(*polled.cq);
  }
  return {};
}

void CqPoller::watch(Polled& polled) {
  if (polled.cq == nullptr) return;
  const rvt::rvt_cq* cq = rvt::ibcq_to_rvtcq(polled.cq->cq);
  const std::uint64_t next = cq->ring + std::uint64_t{sizeof(hw::Cqe)} * cq->index;
  if (polled.watched == next) return;
  polled.watched = next;
  cpu_.watch(next, sizeof(hw::Cqe), {&CqPoller::written, &polled, next});
}

// True when it was not among the ready ones.
bool CqPoller::make_ready(Polled& polled) {
  if (polled.ready || polled.cq == nullptr) return false;
  polled.ready = true;
  ready_.push(&polled);
  return true;
}

void CqPoller::written(void* context, std::uint64_t address) {
  auto& polled = *static_cast<Polled*>(context);
  if (polled.watched != address) return;  // in a ring that is another's by now
  polled.watched = 0;
  if (polled.poller->make_ready(polled)) polled.poller->owner_.completion_written();
}

void CqPoller::entered(void* context, std::uint64_t) {
  auto& polled = *static_cast<Polled*>(context);
  if (polled.poller->make_ready(polled)) polled.poller->owner_.completion_entered();
}

}  // namespace hcasim::sim
