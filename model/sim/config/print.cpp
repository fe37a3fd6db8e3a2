// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The effective configuration as commented TOML.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "sim/config/schema.hpp"

namespace hcasim::sim {
namespace {

/// Adds `text` as a comment, broken at blanks so that no line is longer than 100 columns.
void add_comment(std::string& out, std::string_view text) {
  constexpr std::size_t kWidth = 98;
  while (!text.empty()) {
    std::size_t end = text.size();
    if (end > kWidth) {
      end = text.rfind(' ', kWidth);
      if (end == std::string_view::npos) end = std::min(text.find(' '), text.size());
    }
    fmt::format_to(std::back_inserter(out), "# {}\n", text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// A basic string of TOML.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      fmt::format_to(std::back_inserter(result), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

/// Where the value comes from. That of a default says nothing of another value.
std::string source_line(const SystemConfig& config, const Key& key, const Key& with_default) {
  const auto named = config.sources.find(key.path);
  if (named != config.sources.end()) return "source: see sources." + named->first;
  const bool same = value_text(key) == value_text(with_default);
  return fmt::format("{}: {}", same ? "source" : "source of the default", key.source);
}

void add_key(std::string& out, const SystemConfig& config, const Key& key,
             const Key& with_default) {
  const std::string_view unit = unit_of(key);
  add_comment(out, key.text);
  add_comment(out, fmt::format("{}{}{}, {}, default {}", type_of(key), unit.empty() ? "" : " in ",
                               unit, range_text(key), value_text(with_default)));
  add_comment(out, source_line(config, key, with_default));
  fmt::format_to(std::back_inserter(out), "{} = {}\n", name_of(key), value_text(key));
}

void add_defaults(std::string& out, const SystemConfig& config) {
  NodeConfig copy = config.defaults;
  std::string_view table;
  const KeyList keys = keys_of(copy);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (table_of(keys[i]) != table) {
      table = table_of(keys[i]);
      fmt::format_to(std::back_inserter(out), "\n[{}]\n", table);
    }
    add_key(out, config, keys[i], default_keys()[i]);
  }
}

void add_sources(std::string& out, const SystemConfig& config) {
  if (config.sources.empty()) return;
  out += "\n[sources]\n";
  for (const auto& [path, text] : config.sources) {
    fmt::format_to(std::back_inserter(out), "{} = {}\n", path, quoted(text));
  }
}

/// Only what differs from the defaults: a node without a difference is named all the same.
void add_override(std::string& out, const std::string& name, const NodeConfig& node,
                  const NodeConfig& defaults) {
  NodeConfig node_copy = node;
  NodeConfig defaults_copy = defaults;
  const KeyList keys = keys_of(node_copy);
  const KeyList common = keys_of(defaults_copy);
  fmt::format_to(std::back_inserter(out), "\n[node.{}]\n", name);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string value = value_text(keys[i]);
    if (value == value_text(common[i])) continue;
    fmt::format_to(std::back_inserter(out), "{} = {}\n", keys[i].path, value);
  }
}

}  // namespace

std::string print_effective(const SystemConfig& config) {
  std::string out;
  add_comment(out, "Effective configuration of hcasim.");
  add_defaults(out, config);
  for (const auto& [name, node] : config.overrides) {
    add_override(out, name, node, config.defaults);
  }
  add_sources(out, config);
  return out;
}

}  // namespace hcasim::sim
