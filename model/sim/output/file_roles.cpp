// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/output/file_roles.hpp"

#include "hcasim/sim/input_error.hpp"
#include "sim/output/output_place.hpp"

namespace hcasim::sim {

void FileRoles::reads(const std::string& what, const std::filesystem::path& path) {
  if (!path.empty()) roles_.push_back({what, path});
}

void FileRoles::writes(const std::string& option, const std::string& what,
                       const std::filesystem::path& path) {
  for (const Role& role : roles_) {
    if (!same_file(role.path, path)) continue;
    throw InputError(option, 0, 0, "a file other than " + role.what, path.string());
  }
  roles_.push_back({what, path});
}

}  // namespace hcasim::sim
