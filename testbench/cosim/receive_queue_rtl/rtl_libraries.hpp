// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The builds of the RTL that the tests of this folder run.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "hca/receive_queue_rtl/rtl_receive_queue.hpp"

namespace hcasim::testbench {

/// Files of all builds with those small parameters, or of those that are in the program's folder;
/// the second simulator has some when yosys was there.
inline std::vector<std::string> rtl_libraries(bool small) {
  std::vector<std::string> files;
  const std::filesystem::path folder(small ? HCASIM_SMALL_RTL_FOLDER : HCASIM_RTL_FOLDER);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".so") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Name of a test from that of a library.
inline std::string stem_of(const std::string& file) {
  return std::filesystem::path(file).stem().string();
}

/// A build with these parameters.
inline std::vector<std::string> libraries_with(const hw::rq::Parameters& parameters) {
  std::vector<std::string> files;
  for (const bool small : {true, false}) {
    for (const std::string& file : rtl_libraries(small)) {
      if (hca::ReceiveQueueLibrary::load(file)->plugin().parameters == parameters) {
        files.push_back(file);
      }
    }
  }
  return files;
}

}  // namespace hcasim::testbench
