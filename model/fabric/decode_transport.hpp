// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fabric/codec.hpp"

/// The part of decoding that all networks have in common: from the BTH to the payload.
namespace hcasim::fabric::detail {

using Bytes = std::span<const std::uint8_t>;

/// Reads a header and steps over it. @param bytes at least Header::kBytes
template <typename Header>
Header take(Bytes& bytes) {
  const Header header = Header::decode(bytes.template first<Header::kBytes>());
  bytes = bytes.subspan(Header::kBytes);
  return header;
}

/// Reads BTH, extension headers and payload.
/// @param bytes from the BTH on, as far as captured
/// @param length from the BTH to the ICRC, it included, captured or not
/// @return the ICRC is left unchecked
DecodeResult read_transport(Bytes bytes, std::size_t length, Packet& packet);

}  // namespace hcasim::fabric::detail
