// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/config/builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <hcasim/sim/input_error.hpp>
#include <hcasim/sim/nearest.hpp>

#include "sim/config/assign.hpp"
#include "sim/config/rules.hpp"

namespace hcasim::sim {
namespace {

constexpr std::string_view kNodeTable = "node";
constexpr std::string_view kSourceTable = "sources";

bool is_source(const Assignment& assignment) {
  return assignment.path.front() == kSourceTable;
}

std::string joined(const std::vector<std::string>& path, std::size_t first) {
  return fmt::format("{}",
                     fmt::join(path.begin() + static_cast<std::ptrdiff_t>(first), path.end(), "."));
}

const Key* find_key(const KeyList& keys, std::string_view path) {
  const auto found = std::ranges::find(keys, path, &Key::path);
  return found == keys.end() ? nullptr : &*found;
}

bool is_table(std::string_view path) {
  return std::ranges::any_of(default_keys(), [&](const Key& key) {
    return key.path.size() > path.size() && key.path.starts_with(path) &&
           key.path[path.size()] == '.';
  });
}

[[noreturn]] void reject_key(const Assignment& assignment, std::string_view path,
                             const std::string& prefix) {
  std::string suggestion = nearest_key(path);
  if (suggestion == path) suggestion.clear();  // a table that is given a value
  if (!suggestion.empty()) suggestion.insert(0, prefix);
  const Location& at = assignment.key_at;
  std::string found = prefix + std::string(path);
  if (path.empty() && !found.empty()) found.pop_back();  // a node, not a table of it, has a value
  throw InputError(at.file, at.line, at.column, "a key of the configuration", found, suggestion);
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Names of nodes are those that a trace can have.
void check_node_name(const Assignment& assignment, const std::string& name) {
  constexpr std::size_t kLongest = 63;
  const bool good = !name.empty() && name.size() <= kLongest && is_letter(name.front()) &&
                    std::ranges::all_of(name, [](char c) {
                      return is_letter(c) || (c >= '0' && c <= '9') || c == '-';
                    });
  if (good) return;
  const Location& at = assignment.key_at;
  throw InputError(at.file, at.line, at.column,
                   "a node name (a letter or '_', then letters, digits, '_' and '-')", name);
}

}  // namespace

std::string nearest_key(std::string_view path) {
  const KeyList& keys = default_keys();
  const std::string_view name = path.substr(path.rfind('.') + 1);
  // The right name without its table, or without its unit, is nearer than any misspelling.
  for (const Key& key : keys) {
    if (name_of(key) == name) return std::string(key.path);
  }
  for (const Key& key : keys) {
    if (!path.empty() && key.path.starts_with(path) && key.path[path.size()] == '_') {
      return std::string(key.path);
    }
  }
  std::vector<std::string_view> words;
  for (const Key& key : keys) {
    words.push_back(key.path);
    const std::string_view table = table_of(key);
    if (std::ranges::find(words, table) == words.end()) words.push_back(table);
  }
  return nearest(path, words);
}

void ConfigBuilder::add(const std::vector<Assignment>& assignments) {
  // Values first: each drops what an earlier source said of the value that it replaces.
  for (const Assignment& assignment : assignments) {
    if (!is_source(assignment)) add_value(assignment);
  }
  for (const Assignment& assignment : assignments) {
    if (is_source(assignment)) add_source(assignment);
  }
}

void ConfigBuilder::add_value(const Assignment& assignment) {
  const bool of_node = assignment.path.front() == kNodeTable && assignment.path.size() > 1;
  if (of_node) check_node_name(assignment, assignment.path[1]);
  const std::string path = joined(assignment.path, of_node ? 2 : 0);
  Scope& scope = of_node ? nodes_[assignment.path[1]] : defaults_;
  const bool empty_table = std::holds_alternative<EmptyTable>(assignment.value);
  if (empty_table && (path.empty() || path == kNodeTable || is_table(path))) return;
  if (find_key(default_keys(), path) == nullptr) {
    reject_key(assignment, path, of_node ? "node." + assignment.path[1] + "." : "");
  }
  scope.insert_or_assign(path, assignment);
  if (!of_node) sources_.erase(path);
  NodeConfig trial;
  assign(*find_key(keys_of(trial), path), assignment);
}

void ConfigBuilder::add_source(const Assignment& assignment) {
  const std::string path = joined(assignment.path, 1);
  if (path.empty() && std::holds_alternative<EmptyTable>(assignment.value)) return;
  if (find_key(default_keys(), path) == nullptr) {
    reject_key(assignment, path, std::string(kSourceTable) + ".");
  }
  const auto* text = std::get_if<std::string>(&assignment.value);
  if (text == nullptr || text->empty()) {
    const Location& at = assignment.value_at;
    throw InputError(at.file, at.line, at.column, "a text that names the source of " + path,
                     found_text(assignment.value));
  }
  sources_.insert_or_assign(path, *text);
}

void ConfigBuilder::apply(const Scope& scope, NodeConfig& node) {
  const KeyList keys = keys_of(node);
  for (const auto& [path, assignment] : scope) assign(*find_key(keys, path), assignment);
}

void ConfigBuilder::check_rules(const Scope& scope, const NodeConfig& node) const {
  const auto violation = find_violation(node);
  if (!violation) return;
  NodeConfig copy = node;
  const std::string found = value_text(*find_key(keys_of(copy), violation->keys.front()));
  // Blame a value that was written rather than one that is a default.
  for (const Scope* place : {&scope, &defaults_}) {
    for (const std::string_view key : violation->keys) {
      const auto assignment = place->find(key);
      if (assignment == place->end()) continue;
      const Location& at = assignment->second.value_at;
      throw InputError(at.file, at.line, at.column, violation->expected, found);
    }
  }
  throw InputError("configuration", 0, 0, violation->expected, found);
}

SystemConfig ConfigBuilder::finish() const {
  SystemConfig config;
  config.sources = sources_;
  apply(defaults_, config.defaults);
  check_rules(defaults_, config.defaults);
  for (const auto& [name, scope] : nodes_) {
    NodeConfig node = config.defaults;
    apply(scope, node);
    check_rules(scope, node);
    config.overrides.emplace(name, node);
  }
  return config;
}

}  // namespace hcasim::sim
