// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/transmit_queue.hpp"

#include <utility>

namespace hcasim::hca {

void TransmitQueue::open(fabric::PacketPtr packet, std::uint32_t qpn) {
  entries_.push({std::move(packet), qpn, 1});
}

void TransmitQueue::gather(std::uint64_t address, std::uint32_t offset, std::uint32_t bytes) {
  Entry& entry = entries_[entries_.size() - 1];
  ++entry.reads;
  dma_bytes_ += bytes;
  core_.dma.read(address, entry.packet->payload().data() + offset, bytes, *this,
                 first_ + entries_.size() - 1);
}

void TransmitQueue::close() {
  --entries_[entries_.size() - 1].reads;
  send_ready();
}

void TransmitQueue::on_dma_read(std::uint64_t token, bool error) {
  Entry& entry = entries_[static_cast<std::uint32_t>(token - first_)];
  --entry.reads;
  entry.error |= error;
  send_ready();
}

void TransmitQueue::send_ready() {
  while (!entries_.empty() && entries_.front().reads == 0) {
    Entry entry = entries_.pop();
    ++first_;
    if (entry.dropped) {
      owner_.packet_dropped(entry.qpn);
      continue;
    }
    if (entry.error && !owner_.gather_failed(entry.qpn, *entry.packet)) continue;
    const std::uint64_t message = entry.packet->message;
    const hw::OpcodeInfo& info = entry.packet->info();
    owner_.packet_left(entry.qpn, message, info, core_.port->send(std::move(entry.packet)));
  }
}

void TransmitQueue::drop(std::uint32_t qpn) {
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].qpn == qpn) entries_[i].dropped = true;
  }
}

}  // namespace hcasim::hca
