// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "output.hpp"

namespace hcasim::tools {

int run_command(const ConfigOptions& options) {
  const sim::SystemConfig config = sim::load_config(options.sources);
  write_stdout(options.markdown ? sim::print_key_reference() : sim::print_effective(config));
  return kGood;
}

}  // namespace hcasim::tools
