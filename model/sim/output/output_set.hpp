// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

namespace hcasim::sim {

class TemporaryFile;

/// Files that are complete and wait for their names. All get them in commit(); without it none
/// does, and nothing is left of them.
class OutputSet {
 public:
  OutputSet();
  ~OutputSet();
  OutputSet(const OutputSet&) = delete;
  OutputSet& operator=(const OutputSet&) = delete;

  /// Takes a closed file. @param name as the user gave it
  void add(const std::filesystem::path& name, std::unique_ptr<TemporaryFile> file);
  /// @throws OutputError
  void commit();

 private:
  struct Waiting {
    std::filesystem::path name;
    std::unique_ptr<TemporaryFile> file;
  };
  std::vector<Waiting> waiting_;
};

}  // namespace hcasim::sim
