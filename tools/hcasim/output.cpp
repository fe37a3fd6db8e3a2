// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <algorithm>
#include <hcasim/sim/input_error.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

namespace hcasim::tools {

void write_stdout(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) throw sim::OutputError("stdout", std::strerror(errno));
}

std::string reason_of(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ? "out of memory" : error.what();
}

int complain(std::string reason, int status) {
  std::ranges::replace_if(
      reason, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  std::fprintf(stderr, "hcasim: %s\n", reason.c_str());
  return status;
}

}  // namespace hcasim::tools
