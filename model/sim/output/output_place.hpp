// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace hcasim::sim {

/// Where the name of an output leads.
struct OutputPlace {
  std::filesystem::path file;  ///< to be replaced or made; not a symbolic link
  /// What exists is no regular file, such as /dev/null, a pipe or standard output: bytes go
  /// straight into it.
  bool straight = false;
};

/// Follows symbolic links. @throws OutputError for a folder, a disk, or a file without the right to
/// write
OutputPlace find_output_place(const std::filesystem::path& path);

/// Opens what find_output_place() calls straight. @return the descriptor, or -1 with errno
int open_straight(const std::filesystem::path& path);

/// True when both names lead to one regular file, or to one place where none is yet.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace hcasim::sim
