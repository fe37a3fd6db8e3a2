// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "fabric/capture_file.hpp"
#include "fabric/codec.hpp"

namespace hcasim::sim {

/// True when decode_captured() can read frames of this link layer. The one list to extend.
bool link_type_known(fabric::LinkType type);

/// Decodes a captured frame by the link layer of its capture.
fabric::DecodeResult decode_captured(fabric::LinkType type, std::span<const std::uint8_t> frame,
                                     fabric::Packet& packet);

}  // namespace hcasim::sim
