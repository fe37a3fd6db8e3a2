// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "hca/context_cache.hpp"
#include "hca/core.hpp"
#include "pcie/dma.hpp"

namespace hcasim::hca {

/// Packets on their way to one port, in order. A packet leaves when its payload has been gathered
/// from host memory and all packets before it have left. Where translations have to be fetched
/// first, its gathers begin after that; those of other packets do not wait.
class TransmitQueue final : public pcie::DmaClient, public ContextUser {
 public:
  /// Who wants to know that a packet has left, or could not be gathered. Each time there is room
  /// for one more at `port`.
  class Owner {
   public:
    virtual ~Owner() = default;
    /// `message` and `info` are those of the packet, which is gone; its first bit leaves at `at`,
    /// which may be kStartsLater.
    virtual void packet_left(std::uint32_t qpn, std::uint64_t message, const hw::OpcodeInfo& info,
                             hw::Time at, std::uint32_t port) = 0;
    /// True: the owner has made something else of the packet, to be sent in its place.
    virtual bool gather_failed(std::uint32_t qpn, fabric::Packet& packet, std::uint32_t port) = 0;
    /// A packet came to its end by drop().
    virtual void packet_dropped(std::uint32_t qpn, std::uint32_t port) = 0;
  };

  TransmitQueue(Core& core, Owner& owner, std::uint32_t port)
      : core_(core), index_(port), port_(core.ports[port]), owner_(owner) {}

  /// Sends a packet that is complete. Returns what the port says of its first bit, and the owner
  /// hears no more of it; never, if it has to wait.
  hw::Time send(fabric::PacketPtr packet, std::uint32_t qpn) {
    if (entries_.empty() && !port_.stopped) return port_.out->send(std::move(packet));
    entries_.push({std::move(packet), qpn, 0});
    return hw::kNever;
  }
  /// Opens a place behind all others for a packet whose gathers follow; close() ends them.
  void open(fabric::PacketPtr packet, std::uint32_t qpn);
  /// Reads part of the open packet's payload from host memory.
  void gather(std::uint64_t address, std::uint32_t offset, std::uint32_t bytes);
  /// The gathers of the open packet that follow have to wait for translations.
  void hold(const Missing& missing);
  void close();
  /// The open packet is to come back to this adapter too.
  void loop_back() { entries_.back().special = Entry::Special::kToGroup; }
  /// Hands to the port what is ready.
  void send_ready();
  /// What waits of this queue pair does not leave.
  void drop(std::uint32_t qpn);

  std::uint32_t size() const { return entries_.size(); }
  /// The number of the next packet to wait here.
  std::uint64_t end() const { return first_ + entries_.size(); }
  /// True while something is read for a packet whose number is lower.
  bool reads_before(std::uint64_t number);
  std::uint64_t dma_bytes() const { return dma_bytes_; }
  void on_dma_read(std::uint64_t token, bool error) override;
  void on_context(std::uint64_t token) override;

 private:
  struct Piece {
    std::uint64_t address;
    std::uint32_t offset;
    std::uint32_t bytes;
  };
  /// Gathers that wait for translations.
  struct Held {
    Held* next = nullptr;
    std::uint64_t sequence = 0;  // of the entry
    std::vector<Piece> pieces;
  };
  struct Entry {
    fabric::PacketPtr packet;
    std::uint32_t qpn = 0;
    std::uint32_t reads = 0;  ///< under way; the open packet holds one more
    bool error = false;
    enum class Special : std::uint8_t { kNothing, kDropped, kToGroup } special = Special::kNothing;
  };

  Entry& entry_of(std::uint64_t sequence) {
    return entries_[static_cast<std::uint32_t>(sequence - first_)];
  }
  void read(Entry& entry, std::uint64_t sequence, const Piece& piece);
  bool send_special(Entry& entry);

  Core& core_;
  std::uint32_t index_;
  const CorePort& port_;
  Owner& owner_;
  Fifo<Entry> entries_;
  Pool<Held, 16> held_;
  Held* open_held_ = nullptr;  // of the open packet
  std::uint64_t first_ = 0;    // sequence number of the front entry
  std::uint64_t dma_bytes_ = 0;
};

/// A transmit queue for each port: none waits for another.
class TransmitQueues {
 public:
  TransmitQueues(Core& core, TransmitQueue::Owner& owner)
      : queues_{{{core, owner, 0}, {core, owner, 1}, {core, owner, 2}, {core, owner, 3}}} {}

  TransmitQueue& operator[](std::uint32_t port) { return queues_[port]; }
  const TransmitQueue& operator[](std::uint32_t port) const { return queues_[port]; }
  /// What waits of this queue pair does not leave.
  void drop(std::uint32_t qpn) {
    for (TransmitQueue& queue : queues_) queue.drop(qpn);
  }
  /// The number of the next packet to wait, for each port.
  std::array<std::uint64_t, hw::kMaxPorts> ends() const {
    return {queues_[0].end(), queues_[1].end(), queues_[2].end(), queues_[3].end()};
  }
  /// True while something is read for a packet that stands before these.
  bool reads_before(const std::array<std::uint64_t, hw::kMaxPorts>& numbers) {
    for (std::uint32_t port = 0; port < hw::kMaxPorts; ++port) {
      if (queues_[port].reads_before(numbers[port])) return true;
    }
    return false;
  }

 private:
  static_assert(hw::kMaxPorts == 4);
  std::array<TransmitQueue, hw::kMaxPorts> queues_;
};

}  // namespace hcasim::hca
