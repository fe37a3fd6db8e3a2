// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "measurement.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <vector>

namespace hcasim::bench {

void in_own_process(const std::function<void(void*)>& body, void* result, unsigned long bytes) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    int status = 1;
    try {
      std::vector<char> out(bytes);
      body(out.data());
      if (write(ends[1], out.data(), bytes) == static_cast<ssize_t>(bytes)) status = 0;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "hcasim-bench: %s\n", error.what());
    }
    _exit(status);
  }
  close(ends[1]);
  const bool complete = read(ends[0], result, bytes) == static_cast<ssize_t>(bytes);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!complete || status != 0) throw std::runtime_error("a measurement failed");
}

}  // namespace hcasim::bench
