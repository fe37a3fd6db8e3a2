// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hcasim/hw/receive_queue_plugin.hpp>
#include <optional>
#include <string>

namespace hcasim::hca {

/// Where two units differ, in words.
struct PortDifference {
  std::string port;      ///< of the README's table of ports, or `counters`, `snapshot`
  std::string field;     ///< `valid`, `ready` or a field of the payload
  std::string expected;  ///< value of the reference
  std::string actual;
};

/// The first difference by the comparison contract (hw::rq::same_ports); none when they agree.
std::optional<PortDifference> difference(const hw::rq::Outputs& expected,
                                         const hw::rq::Outputs& actual);
std::optional<PortDifference> difference(const hw::rq::Counters& expected,
                                         const hw::rq::Counters& actual);
/// Of queue `queue`.
std::optional<PortDifference> difference(std::uint32_t queue, const hw::rq::Snapshot& expected,
                                         const hw::rq::Snapshot& actual);

/// What a unit with ports of these widths would show in place of `outputs`.
hw::rq::Outputs narrowed(const hw::rq::Outputs& outputs, const hw::rq::PluginWidths& widths);

}  // namespace hcasim::hca
