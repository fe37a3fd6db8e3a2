// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hcasim/hw/byte_order.hpp"
#include "hcasim/hw/wire/opcode.hpp"

namespace hcasim::hw {

/// The partition key of the default partition, full member.
inline constexpr std::uint16_t kDefaultPkey = 0xffff;

/// True when two P_Keys are of one partition of which not both are limited members (InfiniBand
/// specification 10.9.3).
constexpr bool pkeys_match(std::uint16_t a, std::uint16_t b) {
  return (a & 0x7fff) == (b & 0x7fff) && ((a | b) & 0x8000) != 0;
}

/// Base transport header, in each packet of each service (InfiniBand specification 9.2).
struct Bth {
  static constexpr std::size_t kBytes = 12;  ///< size on the wire

  BthOpcode opcode = BthOpcode::kRcSendFirst;
  bool solicited = false;             ///< SE: the completion of the receive is to raise an event
  bool migrated = false;              ///< M: state of automatic path migration
  std::uint8_t pad_count = 0;         ///< bytes added to the payload to fill a word, 0..3
  std::uint8_t version = 0;           ///< TVer, 0..15; 0 is the one in use
  std::uint16_t pkey = kDefaultPkey;  ///< partition key
  bool fecn = false;                  ///< congestion seen on the way here
  bool becn = false;                  ///< congestion seen on the way of the packets answered
  std::uint8_t reserved_6 = 0;        ///< low six bits of byte 4, not covered by the ICRC
  std::uint32_t dest_qp = 0;          ///< 24 bits
  bool ack_request = false;           ///< A: the responder is asked to acknowledge
  std::uint8_t reserved_7 = 0;        ///< low seven bits of byte 8
  std::uint32_t psn = 0;              ///< 24 bits

  /// Writes the header.
  constexpr void encode(std::span<std::uint8_t, kBytes> out) const {
    out[0] = static_cast<std::uint8_t>(opcode);
    out[1] = static_cast<std::uint8_t>((solicited ? 0x80 : 0) | (migrated ? 0x40 : 0) |
                                       (pad_count & 3) << 4 | (version & 0xf));
    store_be(&out[2], pkey);
    out[4] = static_cast<std::uint8_t>((fecn ? 0x80 : 0) | (becn ? 0x40 : 0) | (reserved_6 & 0x3f));
    store_be24(&out[5], dest_qp);
    out[8] = static_cast<std::uint8_t>((ack_request ? 0x80 : 0) | (reserved_7 & 0x7f));
    store_be24(&out[9], psn);
  }

  /// Reads a header; every bit pattern is one.
  static constexpr Bth decode(std::span<const std::uint8_t, kBytes> in) {
    Bth bth;
    bth.opcode = static_cast<BthOpcode>(in[0]);
    bth.solicited = (in[1] & 0x80) != 0;
    bth.migrated = (in[1] & 0x40) != 0;
    bth.pad_count = (in[1] >> 4) & 3;
    bth.version = in[1] & 0xf;
    bth.pkey = load_be<std::uint16_t>(&in[2]);
    bth.fecn = (in[4] & 0x80) != 0;
    bth.becn = (in[4] & 0x40) != 0;
    bth.reserved_6 = in[4] & 0x3f;
    bth.dest_qp = load_be24(&in[5]);
    bth.ack_request = (in[8] & 0x80) != 0;
    bth.reserved_7 = in[8] & 0x7f;
    bth.psn = load_be24(&in[9]);
    return bth;
  }

  friend constexpr bool operator==(const Bth&, const Bth&) = default;
};

}  // namespace hcasim::hw
