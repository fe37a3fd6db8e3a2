// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What every source of configuration is turned into before it is checked: a list of
// `key = value`, each with the place it was written at.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hcasim::sim {

struct Location {
  std::string file;
  std::uint64_t line = 0;
  std::uint64_t column = 0;
};

/// A value no key can take (list, date), as it may be shown in an error.
struct ForeignValue {
  std::string text;
};

/// A table with nothing in it: assigns nothing, but its name is checked.
struct EmptyTable {};

using AssignedValue =
    std::variant<std::int64_t, double, bool, std::string, ForeignValue, EmptyTable>;

struct Assignment {
  std::vector<std::string> path;
  AssignedValue value;
  Location key_at;
  Location value_at;
};

/// All assignments of a TOML text in the order in which they are written.
/// @throws InputError for text that is not TOML
std::vector<Assignment> read_toml(std::string_view text, const std::string& name);

/// Reads the file called `path`, then as read_toml().
std::vector<Assignment> read_toml_file(const std::string& path);

/// One `key=value` of the command line.
Assignment read_setting(const std::string& setting);

}  // namespace hcasim::sim
