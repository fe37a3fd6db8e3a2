// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "output.hpp"

namespace hcasim::tools {

int run_command(const ConfigCommand& command) {
  const sim::SystemConfig config = sim::load_config(command.sources);
  write_stdout(command.markdown ? sim::print_key_reference() : sim::print_effective(config));
  return kGood;
}

}  // namespace hcasim::tools
