// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hca/observer.hpp"
#include "hcasim/hw/cqe.hpp"
#include "hcasim/hw/time.hpp"
#include "hcasim/hw/wr_opcode_name.hpp"
#include "hcasim/sim/run_statistics.hpp"

/// How results are spelled.
namespace hcasim::sim {

using hw::name_of;
/// The name of the IB_WC_ constant without its prefix.
std::string_view name_of(hw::WcStatus status);
/// Such as `doorbell_seen`.
std::string_view name_of(hca::Stamp stamp);
/// Such as `send_queue`.
std::string_view name_of(QueueKind queue);

/// How many digits of a number given in parts of a unit stand behind the point.
enum class Decimals : std::uint8_t { kNone, kThree, kSix };

/// Appends a number given in parts of a unit, without zeros at the end: 1500 thousandths are 1.5.
void append_decimal(std::string& text, std::int64_t parts, Decimals decimals);

/// Appends a time in nanoseconds with at most three decimals.
inline void append_ns(std::string& text, hw::Time time) {
  append_decimal(text, time, Decimals::kThree);
}

}  // namespace hcasim::sim
