// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <hcasim/hw/receive_queue_ports.hpp>
#include <span>
#include <string_view>

namespace hcasim::sim::cosim {

/// One signal of a port, by the name of the README's table of ports. Beats of data are not here.
template <typename Ports>
struct PortField {
  std::string_view port;
  std::string_view field;
  unsigned bits;
  bool (*matters)(const Ports&);  ///< false: the value is a don't-care
  std::uint64_t (*value)(const Ports&);
};

/// Inputs of a unit: valid and payload of its inputs, ready of its outputs.
std::span<const PortField<hw::rq::Inputs>> input_fields();

/// Outputs of a unit, in the order in which differences are looked for.
std::span<const PortField<hw::rq::Outputs>> output_fields();

}  // namespace hcasim::sim::cosim
