// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "hca/context_cache.hpp"
#include "hca/core.hpp"
#include "pcie/dma.hpp"

namespace hcasim::hca {

/// Packets on their way to the port, in order. A packet leaves when its payload has been gathered
/// from host memory and all packets before it have left. Where translations have to be fetched
/// first, its gathers begin after that; those of other packets do not wait.
class TransmitQueue final : public pcie::DmaClient, public ContextUser {
 public:
  /// Who wants to know that a packet has left, or could not be gathered.
  class Owner {
   public:
    virtual ~Owner() = default;
    /// `message` and `info` are those of the packet, which is gone; its first bit leaves at `at`,
    /// which may be kStartsLater.
    virtual void packet_left(std::uint32_t qpn, std::uint64_t message, const hw::OpcodeInfo& info,
                             hw::Time at) = 0;
    /// True: the owner has made something else of the packet, to be sent in its place.
    virtual bool gather_failed(std::uint32_t qpn, fabric::Packet& packet) = 0;
    /// A packet came to its end by drop().
    virtual void packet_dropped(std::uint32_t qpn) = 0;
  };

  TransmitQueue(Core& core, Owner& owner) : core_(core), owner_(owner) {}

  /// Sends a packet that is complete. Returns what the port says of its first bit, and the owner
  /// hears no more of it; never, if it has to wait.
  hw::Time send(fabric::PacketPtr packet, std::uint32_t qpn) {
    if (entries_.empty() && !core_.port_stopped) return core_.port->send(std::move(packet));
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
  Owner& owner_;
  Fifo<Entry> entries_;
  Pool<Held, 16> held_;
  Held* open_held_ = nullptr;  // of the open packet
  std::uint64_t first_ = 0;    // sequence number of the front entry
  std::uint64_t dma_bytes_ = 0;
};

}  // namespace hcasim::hca
