// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Sources other than TOML text: the file that holds it, and `key=value` of a command line.
#include <hcasim/sim/input_error.hpp>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "sim/config/assignment.hpp"

namespace hcasim::sim {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

std::string read_whole(const std::string& path) {
  constexpr std::size_t kLargest = 16U << 20U;
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (!file) throw InputError(path, 0, 0, "a readable file", std::strerror(errno));
  std::string text;
  char buffer[4096];
  while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, file.get())) {
    text.append(buffer, count);
    if (text.size() > kLargest) {
      throw InputError(path, 0, 0, "a configuration of at most 16 MiB", "a larger file");
    }
  }
  if (std::ferror(file.get()) != 0) {
    throw InputError(path, 0, 0, "a readable file", std::strerror(errno));
  }
  return text;
}

template <typename T>
std::optional<T> whole_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

AssignedValue value_of(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  if (const auto integer = whole_number<std::int64_t>(text)) return *integer;
  if (const auto number = whole_number<double>(text)) return *number;
  return std::string(text);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

std::vector<Assignment> read_toml_file(const std::string& path) {
  return read_toml(read_whole(path), path);
}

Assignment read_setting(const std::string& setting) {
  const std::size_t equals = setting.find('=');
  std::string_view key = trimmed(std::string_view(setting).substr(0, equals));
  if (equals == std::string::npos || key.empty()) {
    throw InputError("--set", 0, 0, "KEY=VALUE", setting.empty() ? "nothing" : setting);
  }
  Assignment result;
  result.value = value_of(trimmed(std::string_view(setting).substr(equals + 1)));
  result.key_at = result.value_at = {"--set " + std::string(key), 0, 0};
  while (true) {
    const std::size_t dot = key.find('.');
    result.path.emplace_back(key.substr(0, dot));
    if (dot == std::string_view::npos) return result;
    key.remove_prefix(dot + 1);
  }
}

}  // namespace hcasim::sim
