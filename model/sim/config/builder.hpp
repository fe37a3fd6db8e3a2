// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Turns assignments into a checked SystemConfig.
#pragma once

#include <hcasim/sim/config.hpp>

#include <map>
#include <string>
#include <vector>

#include "sim/config/assignment.hpp"
#include "sim/config/schema.hpp"

namespace hcasim::sim {

/// Collects the assignments of several sources; a later one wins. Overrides of nodes are applied
/// over the defaults at the end, so `--set pcie.width=8` reaches a node that a file overrides in
/// another key.
class ConfigBuilder {
 public:
  /// Lays one source (a file, a preset, a setting) over those before it.
  /// @throws InputError for an unknown key, a wrong type or a value out of range
  void add(const std::vector<Assignment>& assignments);

  /// @throws InputError when values do not fit together
  SystemConfig finish() const;

 private:
  /// Assignments of one node (or of the defaults) by key: each key's last one.
  using Scope = std::map<std::string, Assignment, std::less<>>;

  void add_value(const Assignment& assignment);
  void add_source(const Assignment& assignment);
  static void apply(const Scope& scope, NodeConfig& node);
  void check_rules(const Scope& scope, const NodeConfig& node) const;

  Scope defaults_;
  std::map<std::string, Scope, std::less<>> nodes_;
  std::map<std::string, std::string, std::less<>> sources_;
};

/// The key of the schema that was most likely meant by `path`, or an empty string.
std::string nearest_key(std::string_view path);

}  // namespace hcasim::sim
