// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace hcasim::sim {

/// The folder of `--out DIR`. Each file is written beside its place and renamed, so that a file
/// that has its name is complete.
class OutputDirectory {
 public:
  /// Makes the folder if need be. @throws OutputError when it is a file, or cannot be made or
  /// written to
  explicit OutputDirectory(std::filesystem::path folder);

  /// Path of a file of this name in the folder.
  std::filesystem::path file(std::string_view name) const { return folder_ / name; }
  std::filesystem::path stats_json() const { return file("stats.json"); }
  std::filesystem::path completions_csv() const { return file("completions.csv"); }
  std::filesystem::path config_toml() const { return file("config.toml"); }

  /// Writes a whole file. @throws OutputError
  void write(std::string_view name, std::string_view text) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace hcasim::sim
