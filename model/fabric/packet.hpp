// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "hcasim/hw/wire/bth.hpp"
#include "hcasim/hw/wire/ethernet.hpp"
#include "hcasim/hw/wire/ip.hpp"

/// A RoCEv2 packet in the form in which the model carries it from unit to unit and across links.
namespace hcasim::fabric {

inline constexpr std::size_t kMaxPayloadBytes = 4096;  ///< largest path MTU

/// Largest frame that encode_frame() makes: Ethernet, VLAN, IPv6, UDP, BTH, extension headers,
/// payload, ICRC; without FCS.
inline constexpr std::size_t kMaxFrameBytes = 14 + 4 + 40 + 8 + 12 + 32 + kMaxPayloadBytes + 4;

/// Longest time of an Ethernet that a packet takes, in bytes: the frame with FCS, preamble and gap.
inline constexpr std::size_t kMaxWireBytes =
    kMaxFrameBytes + hw::kEthernetPreambleBytes + hw::kEthernetFcsBytes + hw::kEthernetGapBytes;

/// The two ends and the treatment of a packet below the BTH.
struct Addressing {
  hw::MacAddress src_mac{};
  hw::MacAddress dst_mac{};
  hw::Gid src_gid{};
  hw::Gid dst_gid{};                    ///< an IPv4 Gid makes the packet IPv4, else it is IPv6
  std::uint32_t flow_label = 0;         ///< 20 bits, IPv6 only
  std::uint16_t udp_src_port = 0xc000;  ///< spreads flows over paths
  std::uint16_t udp_checksum = 0;       ///< carried as it is; 0: none
  std::uint16_t vlan_tag = 0;           ///< priority, drop eligible, identifier
  bool has_vlan = false;
  std::uint8_t traffic_class = 0;  ///< DSCP in the top six bits, ECN in the low two
  std::uint8_t hop_limit = 64;     ///< TTL of IPv4
  std::uint8_t ipv4_flags = 2;     ///< 2: don't fragment
  std::uint16_t ipv4_id = 0;

  // Asked for each packet, so hw::is_ipv4_gid() in a form that compilers turn into two comparisons.
  bool is_ipv4() const {
    constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return std::memcmp(dst_gid.data(), kMapped.data(), kMapped.size()) == 0;
  }
  std::uint8_t dscp() const { return traffic_class >> 2; }
  std::uint8_t ecn() const { return traffic_class & 3; }

  friend bool operator==(const Addressing&, const Addressing&) = default;
};

/// All of a packet but its payload. Extension headers that the opcode does not carry are ignored.
struct PacketHeaders {
  hw::BthOpcode opcode = hw::BthOpcode::kRcSendOnly;
  bool solicited = false;
  bool ack_req = false;
  bool fecn = false;
  bool becn = false;
  bool migrated = false;
  std::uint8_t version = 0;     ///< TVer of the BTH
  std::uint8_t reserved_6 = 0;  ///< as in hw::Bth
  std::uint8_t reserved_7 = 0;  ///< as in hw::Bth
  std::uint16_t pkey = hw::kDefaultPkey;
  std::uint32_t dest_qp = 0;  ///< 24 bits
  std::uint32_t psn = 0;      ///< 24 bits
  std::uint32_t src_qp = 0;   ///< on the wire in UD only; the model may set it for its own use
  std::uint32_t qkey = 0;     ///< UD only
  std::uint32_t xrc_srq = 0;  ///< XRC requests only
  hw::Reth reth;
  hw::AtomicEth atomic;
  hw::Aeth aeth;
  hw::AtomicAckEth atomic_ack;
  hw::ImmDt imm;
  hw::Ieth ieth;
  Addressing address;

  const hw::OpcodeInfo& info() const { return hw::opcode_info(opcode); }

  friend bool operator==(const PacketHeaders&, const PacketHeaders&) = default;
};

namespace detail {
struct PoolStore;
inline constexpr PacketHeaders kDefaultHeaders{};
}  // namespace detail

/// A packet with room for the largest payload. It is large: pass it by reference or by PacketPtr.
class Packet : public PacketHeaders {
 public:
  Packet() noexcept {}  // The payload's bytes are written before they are read.
  Packet(const Packet&) = delete;
  Packet& operator=(const Packet&) = delete;

  /// Takes over all but the payload's bytes, which become undefined when `bytes` grows.
  void set_headers(const PacketHeaders& headers) { static_cast<PacketHeaders&>(*this) = headers; }

  /// Length of the payload on the wire in bytes, padding excluded, 0..4096.
  std::size_t payload_size() const { return payload_size_; }

  /// Sets the length and gives the bytes to fill in. @param bytes 0..4096
  std::span<std::uint8_t> resize_payload(std::size_t bytes) {
    payload_size_ = static_cast<std::uint16_t>(bytes);
    return payload();
  }
  std::span<std::uint8_t> payload() { return {payload_.data(), payload_size_}; }
  std::span<const std::uint8_t> payload() const { return {payload_.data(), payload_size_}; }

  /// Bytes that fill the last word of the payload, 0..3.
  std::size_t pad_count() const { return (4 - payload_size_ % 4) % 4; }

  /// Bytes of the frame from the Ethernet header to the ICRC, filled up to the least frame; without
  /// FCS.
  std::size_t frame_bytes() const {
    const std::size_t link = hw::Ethernet::kBytes + (address.has_vlan ? hw::Vlan::kBytes : 0);
    const std::size_t network = address.is_ipv4() ? hw::Ipv4::kBytes : hw::Ipv6::kBytes;
    const std::size_t transport = hw::Udp::kBytes + hw::Bth::kBytes + info().bytes;
    const std::size_t bytes =
        link + network + transport + payload_size_ + pad_count() + hw::kIcrcBytes;
    return std::max(bytes, hw::kEthernetMinFrameBytes - hw::kEthernetFcsBytes);
  }

  /// Bytes of time that the packet occupies an Ethernet: the frame, preamble, FCS and gap.
  std::size_t wire_bytes() const {
    return frame_bytes() + hw::kEthernetPreambleBytes + hw::kEthernetFcsBytes +
           hw::kEthernetGapBytes;
  }

  /// Back to an empty packet with the values of a new one, or with these headers.
  void clear(const PacketHeaders& headers = detail::kDefaultHeaders) {
    set_headers(headers);
    payload_size_ = 0;
    message = 0;
  }

  std::uint64_t message = 0;  ///< not on the wire: whose bytes these are, for statistics
  Packet* next = nullptr;     ///< not on the wire: link of a queue in which the packet waits
  std::uint32_t port = 0;  ///< not on the wire: at which of the adapter's ports it came in, from 0

 private:
  friend class PacketPool;
  friend class PacketPtr;

  detail::PoolStore* pool_ = nullptr;  // where a pool's packet goes back to
  std::uint16_t payload_size_ = 0;
  std::array<std::uint8_t, kMaxPayloadBytes> payload_;
};

/// What a pool owns. It outlives its pool while packets of it are out, so that nodes may be
/// destroyed in any order.
struct detail::PoolStore {
  Packet* free = nullptr;  ///< those that nobody holds, linked by `next`
  std::size_t in_use = 0;
  bool abandoned = false;
  std::vector<std::unique_ptr<Packet[]>> blocks;
};

/// Owns one packet of a PacketPool and gives it back at the end, on whichever node that is. All
/// handles to packets of one pool belong to one thread.
class PacketPtr {
 public:
  PacketPtr() = default;
  PacketPtr(PacketPtr&& other) noexcept : packet_(std::exchange(other.packet_, nullptr)) {}
  PacketPtr& operator=(PacketPtr&& other) noexcept {
    std::swap(packet_, other.packet_);
    other.reset();
    return *this;
  }
  ~PacketPtr() { reset(); }

  /// Gives the packet back to the pool it came from.
  void reset() {
    if (packet_ != nullptr) give_back(std::exchange(packet_, nullptr));
  }

  Packet* get() const { return packet_; }
  Packet& operator*() const { return *packet_; }
  Packet* operator->() const { return packet_; }
  explicit operator bool() const { return packet_ != nullptr; }

  /// Gives up ownership, for an event's argument; adopt() takes it back.
  Packet* release() { return std::exchange(packet_, nullptr); }

  /// Takes over what release() of another handle gave.
  static PacketPtr adopt(Packet* released) { return PacketPtr(released); }

 private:
  friend class PacketPool;
  explicit PacketPtr(Packet* packet) : packet_(packet) {}
  static void give_back(Packet* packet) {
    detail::PoolStore* const store = packet->pool_;
    packet->next = store->free;
    store->free = packet;
    if (--store->in_use == 0 && store->abandoned) delete store;
  }

  Packet* packet_ = nullptr;
};

}  // namespace hcasim::fabric
