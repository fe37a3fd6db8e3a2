// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/record/output_directory.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "hcasim/sim/input_error.hpp"
#include "sim/output/output_file.hpp"

namespace hcasim::sim {

namespace fs = std::filesystem;

OutputDirectory::OutputDirectory(fs::path folder) : folder_(std::move(folder)) {
  try {
    make();
  } catch (const std::system_error& error) {
    remove_empty();
    throw OutputError(folder_.string(), error.code().message());
  }
}

OutputDirectory::~OutputDirectory() {
  remove_empty();
}

void OutputDirectory::make() {
  if (folder_.empty()) throw std::system_error(ENOENT, std::generic_category());
  fs::path path;
  for (const fs::path& part : folder_) {
    path /= part;
    if (part.empty() || fs::is_directory(path)) continue;
    if (fs::exists(path)) throw std::system_error(ENOTDIR, std::generic_category());
    const SignalsHeld held;
    fs::create_directory(path);
    made_.emplace_back(path.string());
  }
  if (::access(folder_.c_str(), W_OK | X_OK) != 0) {
    throw std::system_error(errno, std::generic_category());
  }
}

void OutputDirectory::remove_empty() {
  for (; !made_.empty(); made_.pop_back()) ::rmdir(made_.back().text().c_str());
}

void OutputDirectory::write(std::string_view name, std::string_view text, OutputSet* set) const {
  OutputFile output(file(name), set);
  output.write(text);
  output.commit();
}

}  // namespace hcasim::sim
