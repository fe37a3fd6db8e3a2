// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include <systemc>

#include "program.hpp"

int sc_main(int argc, char** argv) {
  return hcasim::tools::run_program(argc, argv);
}

// libsystemc has a main of its own, which prints a banner.
int main(int argc, char** argv) {
  return hcasim::tools::enter(argc, argv);
}
