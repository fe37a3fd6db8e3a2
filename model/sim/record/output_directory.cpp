// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/record/output_directory.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "hcasim/sim/input_error.hpp"
#include "sim/record/output_file.hpp"

namespace hcasim::sim {

OutputDirectory::OutputDirectory(std::filesystem::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (!error && !std::filesystem::is_directory(folder_)) {
    error = std::make_error_code(std::errc::not_a_directory);
  }
  if (!error && ::access(folder_.c_str(), W_OK | X_OK) != 0) {
    error = std::error_code(errno, std::generic_category());
  }
  if (error) throw OutputError(folder_.string(), error.message());
}

void OutputDirectory::write(std::string_view name, std::string_view text) const {
  OutputFile output(file(name));
  output.write(text);
  output.commit();
}

}  // namespace hcasim::sim
