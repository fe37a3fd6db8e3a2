// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/transmit_queue.hpp"

#include <bit>
#include <utility>

#include "hca/loopback.hpp"

namespace hcasim::hca {

void TransmitQueue::open(fabric::PacketPtr packet, std::uint32_t qpn) {
  entries_.push({std::move(packet), qpn, 1});
}

void TransmitQueue::gather(std::uint64_t address, std::uint32_t offset, std::uint32_t bytes) {
  if (open_held_ != nullptr) [[unlikely]] {
    open_held_->pieces.push_back({address, offset, bytes});
    return;
  }
  read(entries_.back(), first_ + entries_.size() - 1, {address, offset, bytes});
}

inline void TransmitQueue::read(Entry& entry, std::uint64_t sequence, const Piece& piece) {
  ++entry.reads;
  dma_bytes_ += piece.bytes;
  core_.dma.read(piece.address, entry.packet->payload().data() + piece.offset, piece.bytes, *this,
                 sequence);
}

void TransmitQueue::hold(const Missing& missing) {
  Held& held = held_.acquire();
  held.sequence = first_ + entries_.size() - 1;
  held.pieces.clear();
  open_held_ = &held;
  ++entries_.back().reads;
  core_.caches.translation.fetch(missing, *this, std::bit_cast<std::uint64_t>(&held));
}

void TransmitQueue::on_context(std::uint64_t token) {
  Held& held = *std::bit_cast<Held*>(token);
  Entry& entry = entry_of(held.sequence);
  --entry.reads;
  for (const Piece& piece : held.pieces) read(entry, held.sequence, piece);
  held_.release(held);
}

void TransmitQueue::close() {
  open_held_ = nullptr;
  --entries_.back().reads;
  send_ready();
}

void TransmitQueue::on_dma_read(std::uint64_t token, bool error) {
  Entry& entry = entry_of(token);
  --entry.reads;
  entry.error |= error;
  send_ready();
}

bool TransmitQueue::reads_before(std::uint64_t number) {
  for (std::uint32_t i = 0; i < entries_.size() && first_ + i < number; ++i) {
    if (entries_[i].reads != 0) return true;
  }
  return false;
}

void TransmitQueue::send_ready() {
  while (!entries_.empty() && entries_.front().reads == 0 && !port_.stopped) {
    Entry entry = entries_.pop();
    ++first_;
    if (entry.special != Entry::Special::kNothing && send_special(entry)) continue;
    if (entry.error && !owner_.gather_failed(entry.qpn, *entry.packet, index_)) continue;
    const std::uint64_t message = entry.packet->message;
    const hw::OpcodeInfo& info = entry.packet->info();
    owner_.packet_left(entry.qpn, message, info, port_.out->send(std::move(entry.packet)), index_);
  }
}

// What is dropped is not sent; what goes to a group is copied. False when it is left to the caller.
bool TransmitQueue::send_special(Entry& entry) {
  if (entry.special == Entry::Special::kDropped) {
    owner_.packet_dropped(entry.qpn, index_);
    return true;
  }
  if (entry.error) return false;
  fabric::PacketPtr copy = core_.packets.clone(*entry.packet);
  copy->port = index_;
  const std::uint64_t message = entry.packet->message;
  const hw::OpcodeInfo& info = entry.packet->info();
  const hw::Time at = port_.out->send(std::move(entry.packet));
  core_.loopback->take(std::move(copy), port_.out->free_at());
  owner_.packet_left(entry.qpn, message, info, at, index_);
  return true;
}

void TransmitQueue::drop(std::uint32_t qpn) {
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].qpn == qpn) entries_[i].special = Entry::Special::kDropped;
  }
}

}  // namespace hcasim::hca
