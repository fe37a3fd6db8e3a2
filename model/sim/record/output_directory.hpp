// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <filesystem>
#include <string>
#include <string_view>

#include "sim/output/output_set.hpp"
#include "sim/output/transient_name.hpp"

namespace hcasim::sim {

/// The folder of `--out DIR`. Folders that were made for it go again when they are still empty at
/// the end of this object.
class OutputDirectory {
 public:
  /// Makes the folder if need be. @throws OutputError when it is a file, or cannot be made or
  /// written to
  explicit OutputDirectory(std::filesystem::path folder);
  ~OutputDirectory();
  OutputDirectory(const OutputDirectory&) = delete;
  OutputDirectory& operator=(const OutputDirectory&) = delete;

  /// Path of a file of this name in the folder.
  std::filesystem::path file(std::string_view name) const { return folder_ / name; }
  std::filesystem::path stats_json() const { return file("stats.json"); }
  std::filesystem::path completions_csv() const { return file("completions.csv"); }
  std::filesystem::path config_toml() const { return file("config.toml"); }

  /// Writes a whole file. @param set gives it its name, later; null: at once
  /// @throws OutputError
  void write(std::string_view name, std::string_view text, OutputSet* set = nullptr) const;

 private:
  void make();
  void remove_empty();

  std::filesystem::path folder_;
  std::deque<TransientName> made_;  // the outermost first
};

}  // namespace hcasim::sim
