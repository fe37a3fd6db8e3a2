// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/parameters.hpp"
#include "hca/parameters.hpp"
#include "host/parameters.hpp"
#include "pcie/parameters.hpp"

namespace hcasim::sim {

/// Parameters of the verbs driver. Sources, ranges: configuration schema, table `rvt`.
struct RvtParameters {
  bool blue_flame = false;        ///< a send that is posted alone goes with its doorbell
  double copy_gb_per_s = 12;      ///< GB/s of one core that copies in loopback; 0: no time
  bool loopback_on_wire = false;  ///< QPs of one device talk through the adapter, not in the driver
  bool rdmavt_compat = false;  ///< keep rdmavt's behaviour where it departs from the specification
};

/// Everything that can be configured of one node: one member a layer.
struct NodeConfig {
  pcie::Parameters pcie;
  host::Parameters host;
  hca::Parameters hca;
  fabric::Parameters fabric;
  RvtParameters rvt;
};

/// True when every key of the schema has the same value in both.
bool operator==(const NodeConfig& left, const NodeConfig& right);

/// The configuration of a whole system.
struct SystemConfig {
  /// What a node has unless it is named in `overrides`.
  NodeConfig defaults;
  /// By name of the node: its whole configuration, that is the defaults with the keys of
  /// `[node.NAME.*]` laid over them.
  std::map<std::string, NodeConfig, std::less<>> overrides;
  /// By key of `defaults`: where its value comes from when that is not what the schema says, from
  /// the table `[sources]`, which presets use to name the publications they rest on.
  std::map<std::string, std::string, std::less<>> sources;

  /// The configuration of the node called `name`: its own where there is one, else the defaults.
  /// @return a reference that lives as long as this object is unchanged
  const NodeConfig& node(std::string_view name) const;

  friend bool operator==(const SystemConfig&, const SystemConfig&) = default;
};

/// Where a configuration comes from: a preset, then a file, then single settings, each laid over
/// the one before.
struct ConfigSources {
  std::string preset = "generic";     ///< name of a preset, see preset_names()
  std::string file;                   ///< path of a TOML file; empty: none
  std::vector<std::string> settings;  ///< `key=value`, with the keys of a file written in full
};

/// Reads, checks and combines the given sources.
/// @throws InputError when a source cannot be read, is not TOML, has an unknown key, a value of the
///         wrong type or out of its range, or when values do not fit together
SystemConfig load_config(const ConfigSources& sources);

/// Lays the TOML in `text` over the schema's defaults; `name` stands for the file in errors.
/// @throws InputError as load_config() does
SystemConfig parse_config(std::string_view text, const std::string& name);

/// The effective configuration as TOML in which a comment gives each key's meaning, type, unit,
/// range, default and source. parse_config() of the result is equal to `config`.
std::string print_effective(const SystemConfig& config);

/// The reference page of all keys in Markdown, made from the schema alone.
std::string print_key_reference();

/// The names of the presets, in alphabetical order; `generic` is the default one.
std::vector<std::string> preset_names();

}  // namespace hcasim::sim
