// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/output/file_roles.hpp"

#include "hcasim/sim/input_error.hpp"
#include "sim/output/output_place.hpp"

namespace hcasim::sim {

namespace {

std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : ".";
}

bool may_be_of_a_node(const std::filesystem::path& file, const std::filesystem::path& family) {
  const std::string name = file.filename().string();
  const std::string begin = family.stem().string() + '-';
  const std::string end = family.extension().string();
  return name.size() > begin.size() + end.size() && name.starts_with(begin) &&
         name.ends_with(end) && same_file(folder_of(file), folder_of(family));
}

}  // namespace

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

void FileRoles::writes_for_nodes(const std::string& option, const std::string& what,
                                 const std::filesystem::path& path) {
  for (const Role& role : roles_) {
    if (!may_be_of_a_node(role.path, path)) continue;
    throw InputError(option, 0, 0, "files for nodes other than " + role.what, role.path.string());
  }
  writes(option, what, path);
}

}  // namespace hcasim::sim
