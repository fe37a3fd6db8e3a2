// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "output.hpp"

namespace hcasim::tools {

int run_command(const PrintCommand& command) {
  write_stdout(command.text);
  return kGood;
}

}  // namespace hcasim::tools
