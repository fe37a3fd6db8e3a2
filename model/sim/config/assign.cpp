// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/config/assign.hpp"

#include <fmt/format.h>
#include <hcasim/sim/input_error.hpp>

#include <algorithm>
#include <bit>
#include <optional>
#include <type_traits>

namespace hcasim::sim {
namespace {

bool in_range(const Range& range, double value) {
  // Written so that a NaN is outside.
  if (!(value >= range.minimum && value <= range.maximum)) return false;
  return !range.power_of_two || std::has_single_bit(static_cast<std::uint64_t>(value));
}

/// The value that `assigned` has as a T in `range`; nothing when type or range is wrong.
template <typename T>
std::optional<T> converted(const AssignedValue& assigned, const Range& range) {
  if constexpr (std::is_same_v<T, bool>) {
    const bool* flag_value = std::get_if<bool>(&assigned);
    return flag_value != nullptr ? std::optional(*flag_value) : std::nullopt;
  } else if constexpr (std::is_same_v<T, fabric::Topology>) {
    const auto* word = std::get_if<std::string>(&assigned);
    if (word == nullptr) return std::nullopt;
    const auto found = std::ranges::find(kTopologyWords, *word);
    if (found == kTopologyWords.end()) return std::nullopt;
    return static_cast<T>(found - kTopologyWords.begin());
  } else {
    double value = 0;
    if (const auto* integer = std::get_if<std::int64_t>(&assigned)) {
      value = static_cast<double>(*integer);
    } else if (const auto* number = std::get_if<double>(&assigned);
               number != nullptr && std::is_same_v<T, double>) {
      value = *number;
    } else {
      return std::nullopt;
    }
    return in_range(range, value) ? std::optional(static_cast<T>(value)) : std::nullopt;
  }
}

}  // namespace

std::string found_text(const AssignedValue& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        using T = std::remove_cvref_t<decltype(held)>;
        if constexpr (std::is_same_v<T, std::string>) {
          return held.empty() ? "an empty text" : held;
        } else if constexpr (std::is_same_v<T, ForeignValue>) {
          return held.text;
        } else if constexpr (std::is_same_v<T, EmptyTable>) {
          return "a table";
        } else if constexpr (std::is_same_v<T, double>) {
          return number_text(held);
        } else {
          return fmt::format("{}", held);
        }
      },
      value);
}

void assign(const Key& key, const Assignment& assignment) {
  const auto set = [&](auto* member) {
    using T = std::remove_pointer_t<decltype(member)>;
    const auto value = converted<T>(assignment.value, key.range);
    if (value) *member = *value;
    return value.has_value();
  };
  if (std::visit(set, key.field)) return;
  const std::string unit = unit_of(key).empty() ? "" : fmt::format(" {}", unit_of(key));
  const std::string expected =
      type_of(key) == "boolean" || type_of(key) == "text"
          ? fmt::format("{} to be {}", key.path, range_text(key))
          : fmt::format("{} to be {} {}, {}{}", key.path, type_of(key) == "integer" ? "an" : "a",
                        type_of(key), range_text(key), unit);
  const Location& at = assignment.value_at;
  throw InputError(at.file, at.line, at.column, expected, found_text(assignment.value));
}

}  // namespace hcasim::sim
