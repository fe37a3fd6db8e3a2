// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The only file that sees toml++: compiling it takes long.
#include <hcasim/sim/input_error.hpp>

#include <toml++/toml.h>
#include <algorithm>
#include <sstream>
#include <tuple>

#include "sim/config/assignment.hpp"
#include "sim/config/toml_nesting.hpp"

namespace hcasim::sim {
namespace {

class Collector {
 public:
  explicit Collector(const std::string& name) : name_(name) {}

  void add(const toml::table& table) {
    for (const auto& [key, node] : table) {
      path_.push_back(part_of_path(key.str()));
      if (const auto* inner = node.as_table(); inner != nullptr && !inner->empty()) {
        add(*inner);
      } else {
        result_.push_back({path_, value_of(node), at(key.source()), at(node.source())});
      }
      path_.pop_back();
    }
  }

  /// toml++ sorts a table by key; errors and later sources go by the order of writing.
  std::vector<Assignment> take() {
    std::ranges::stable_sort(result_, {}, [](const Assignment& assignment) {
      return std::tuple(assignment.key_at.line, assignment.key_at.column);
    });
    return std::move(result_);
  }

 private:
  Location at(const toml::source_region& region) const {
    return {name_, region.begin.line, region.begin.column};
  }

  /// A part that had to be quoted stays so: it is not two parts, nor none.
  static std::string part_of_path(std::string_view key) {
    const bool plain = !key.empty() && key.find('.') == std::string_view::npos;
    return plain ? std::string(key) : '"' + std::string(key) + '"';
  }

  static AssignedValue value_of(const toml::node& node) {
    if (node.is_table()) return EmptyTable{};
    if (const auto* value = node.as_integer()) return value->get();
    if (const auto* value = node.as_floating_point()) return value->get();
    if (const auto* value = node.as_boolean()) return value->get();
    if (const auto* value = node.as_string()) return value->get();
    if (node.is_array()) return ForeignValue{"[...]"};
    return ForeignValue{"a date or time"};
  }

  const std::string& name_;
  std::vector<std::string> path_;
  std::vector<Assignment> result_;
};

/// The text of a line from `column` on: what the parser could not go on with.
std::string text_at(std::string_view text, std::uint64_t line, std::uint64_t column) {
  for (std::uint64_t i = 1; i < line; ++i) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  if (column == 0 || column > text.size()) return {};
  return std::string(text.substr(column - 1));
}

}  // namespace

std::vector<Assignment> read_toml(std::string_view text, const std::string& name) {
  check_nesting(text, name);
  try {
    const toml::table table = toml::parse(text, name);
    Collector collector(name);
    collector.add(table);
    return collector.take();
  } catch (const toml::parse_error& error) {
    const auto at = error.source().begin;
    std::string reason(error.description());
    std::ranges::replace_if(
        reason, [](unsigned char c) { return c < 0x20; }, ' ');
    throw InputError(name, at.line, at.column, "TOML (" + reason + ")",
                     text_at(text, at.line, at.column));
  }
}

}  // namespace hcasim::sim
