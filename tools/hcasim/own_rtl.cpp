// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "own_rtl.hpp"

#include <filesystem>
#include <system_error>

namespace hcasim::tools {

std::vector<std::string> own_rtl() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  std::vector<std::string> found;
  for (const char* name : {"receive_queue_rtl.so", "receive_queue_cxxrtl.so"}) {
    for (const fs::path& folder : {program, program / "../lib/hcasim"}) {
      if (!fs::exists(folder / name, error)) continue;
      found.push_back(folder / name);
      break;
    }
  }
  return found;
}

}  // namespace hcasim::tools
