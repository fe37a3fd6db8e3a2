// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "hca/local_operations.hpp"

#include <algorithm>
#include <utility>

#include "hca/requester.hpp"
#include "hcasim/hw/wqe.hpp"

namespace hcasim::hca {

namespace {

constexpr std::uint32_t kEntriesAtATime = 512;

// A fast-register region of the queue pair's own protection domain.
bool may_change(const MemoryRegion* region, const QueuePair& qp) {
  return region != nullptr && region->mpt.invalidatable != 0 && region->mpt.pd == qp.context.pd;
}

}  // namespace

void LocalOperations::start(QueuePair& qp, const std::uint8_t* wqe) {
  const auto control = hw::load<hw::SendWqeControl>(wqe);
  if (control.opcode == hw::WrOpcode::kLocalInv) {
    return core_.requester->local_done(qp, invalidate(qp, control.imm_or_key));
  }
  const auto remote = hw::load<hw::SendWqeRemote>(wqe + hw::kSendWqeRemoteOffset);
  const auto table = hw::load<hw::SendWqeRegister>(wqe + hw::kSendWqeRegisterOffset);
  waiting_.push({qp.context.qpn, table.current_key, control.imm_or_key, remote.rkey, control.length,
                 table.mtt_entries, table.first_offset, remote.addr});
  ++qp.lookups;
  if (!busy_) next();
}

hw::WcStatus LocalOperations::invalidate(const QueuePair& qp, std::uint32_t key) {
  MemoryRegion* region = core_.contexts.memory.find(key);
  if (!may_change(region, qp)) return hw::WcStatus::kLocProtErr;
  region->mpt.valid = 0;
  return hw::WcStatus::kSuccess;
}

void LocalOperations::next() {
  busy_ = !waiting_.empty();
  if (!busy_) return;
  const Work& work = waiting_.front();
  const MemoryRegion* region = core_.contexts.memory.find(work.current_key);
  const QueuePair* qp = core_.qp(work.qpn);
  const bool possible = may_change(region, *qp) && work.entries <= region->mpt.mtt_entries;
  if (!possible) return finish(false);
  pages_.assign(work.entries, 0);
  read_ = 0;
  work.entries == 0 ? finish(true) : read_more();
}

void LocalOperations::read_more() {
  const MemoryRegion* region = core_.contexts.memory.find(waiting_.front().current_key);
  if (region == nullptr) return finish(false);
  const std::uint32_t entries =
      std::min(kEntriesAtATime, static_cast<std::uint32_t>(pages_.size()) - read_);
  core_.dma.read(region->mpt.mtt + std::uint64_t{read_} * sizeof(hw::MttEntry), &pages_[read_],
                 entries * static_cast<std::uint32_t>(sizeof(hw::MttEntry)), *this, entries);
}

void LocalOperations::on_dma_read(std::uint64_t token, bool error) {
  if (error) return finish(false);
  read_ += static_cast<std::uint32_t>(token);
  read_ < pages_.size() ? read_more() : finish(true);
}

void LocalOperations::finish(bool done) {
  const Work work = waiting_.pop();
  ++ended_;
  QueuePair* qp = core_.qp(work.qpn);  // none goes before
  --qp->lookups;
  // The region may have been destroyed while its table was read.
  MemoryRegion* region = done ? core_.contexts.memory.find(work.current_key) : nullptr;
  const std::uint64_t covered =
      region == nullptr ? 0 : static_cast<std::uint64_t>(pages_.size()) << region->mpt.page_shift;
  const bool fits = covered >= std::uint64_t{work.first_offset} + work.length;
  region = region != nullptr && fits ? core_.contexts.memory.rename(work.current_key, work.new_key)
                                     : nullptr;
  if (region != nullptr) {
    region->pages = pages_;
    region->mpt.iova = work.iova;
    region->mpt.length = work.length;
    region->mpt.access = work.access;
    region->mpt.first_offset = work.first_offset;
    region->mpt.valid = 1;
    core_.caches.translation.install(*region);
  }
  core_.requester->local_done(
      *qp, region != nullptr ? hw::WcStatus::kSuccess : hw::WcStatus::kLocProtErr);
  next();
}

}  // namespace hcasim::hca
