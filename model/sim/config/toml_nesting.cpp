// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/config/toml_nesting.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hcasim/sim/input_error.hpp"

namespace hcasim::sim {

namespace {

// Twice as many as any key has.
constexpr std::size_t kMostParts = 16;

/// The end of the text in quotes that begins at `begin`, behind its last quote.
std::size_t end_of_quoted(std::string_view text, std::size_t begin) {
  const char quote = text[begin];
  const std::string_view rest = text.substr(begin);
  const bool several_lines = rest.size() >= 3 && rest[1] == quote && rest[2] == quote;
  const std::size_t quotes = several_lines ? 3 : 1;
  std::size_t at = begin + quotes;
  while (at < text.size()) {
    if (text[at] == '\n' && !several_lines) return at;
    if (text.substr(at, quotes) == text.substr(begin, quotes)) return at + quotes;
    at += text[at] == '\\' && quote == '"' ? 2 : 1;
  }
  return text.size();
}

[[noreturn]] void fail(std::string_view text, std::size_t at, const std::string& name) {
  const auto line = static_cast<std::uint64_t>(std::ranges::count(text.substr(0, at), '\n')) + 1;
  const std::size_t begin = line == 1 ? 0 : text.rfind('\n', at) + 1;
  throw InputError(name, line, at - begin + 1,
                   "a key of at most " + std::to_string(kMostParts) + " parts",
                   std::string(text.substr(at, text.find('\n', at) - at)));
}

}  // namespace

void check_nesting(std::string_view text, const std::string& name) {
  constexpr std::string_view kEndOfKey = "=,[]{}\n";
  std::size_t parts = 1;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = end_of_quoted(text, at);
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (kEndOfKey.find(c) != std::string_view::npos) parts = 1;
    if (c == '.' && ++parts > kMostParts) fail(text, at, name);
    ++at;
  }
}

}  // namespace hcasim::sim
