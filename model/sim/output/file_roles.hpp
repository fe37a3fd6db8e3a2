// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hcasim::sim {

/// What a command reads and writes: no output may be one of its inputs, nor the same file as
/// another output. To be filled and asked before anything is written.
class FileRoles {
 public:
  /// @param what such as `the trace`
  void reads(const std::string& what, const std::filesystem::path& path);
  /// @param option that names the output
  /// @param what such as `stats.json of --out`
  /// @throws InputError when the file has a role already
  void writes(const std::string& option, const std::string& what,
              const std::filesystem::path& path);
  /// The same for a file each node, with the node's name behind `-` before the extension.
  void writes_for_nodes(const std::string& option, const std::string& what,
                        const std::filesystem::path& path);

 private:
  struct Role {
    std::string what;
    std::filesystem::path path;
  };
  std::vector<Role> roles_;
};

}  // namespace hcasim::sim
