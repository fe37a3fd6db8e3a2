// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Text to number and back, for the values of a trace.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <hcasim/hw/time.hpp>

namespace hcasim::sim::trace {

/// Longest name of a node, object or label in bytes.
inline constexpr std::size_t kLongestName = 63;

/// True for a letter or `_` followed by letters, digits, `_` and `-`, up to kLongestName in all.
bool is_name(std::string_view text);
/// A whole number in decimal, or in hexadecimal after `0x`. @return false when it is none
bool parse_number(std::string_view text, std::uint64_t& value);
/// A time with its unit, ns, us, ms or s. @return false when it is none, not whole picoseconds, or
/// longer than kLongestTime
bool parse_time(std::string_view text, hw::Time& time);
/// An IPv6 address, as two halves. @return false when it is none
bool parse_gid(std::string_view text, std::uint64_t& high, std::uint64_t& low);

/// Decimal.
void append_number(std::string& text, std::uint64_t value);
/// Hexadecimal with `0x`.
void append_hex(std::string& text, std::uint64_t value);
/// IPv6 address as RFC 5952 has it.
void append_gid(std::string& text, std::uint64_t high, std::uint64_t low);
/// Nanoseconds with as many decimals as are needed, up to three. @pre time is not negative
void append_time(std::string& text, hw::Time time);

}  // namespace hcasim::sim::trace
