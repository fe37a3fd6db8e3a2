// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "own_rtl.hpp"

#include <filesystem>
#include <system_error>

namespace hcasim::tools {

std::optional<std::string> find_own_rtl(const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& file :
       {folder / name, folder / ".." / HCASIM_LIBRARY_FOLDER / "hcasim" / name}) {
    if (fs::exists(file, error)) return file.lexically_normal().string();
  }
  return std::nullopt;
}

}  // namespace hcasim::tools
