// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Entry of the program: every error becomes one line on stderr and an exit status.
#include <hcasim/sim/input_error.hpp>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <systemc>

#include "commands.hpp"
#include "fabric/capture_file.hpp"
#include "interruption.hpp"
#include "output.hpp"

namespace {

using namespace hcasim;

int run_program(int argc, char** argv) {
  try {
    const tools::Command command = tools::parse_command_line(argc, argv);
    return std::visit([](const auto& chosen) { return tools::run_command(chosen); }, command);
  } catch (const tools::UsageError& error) {
    return tools::complain(error.what(), tools::kBadInput);
  } catch (const sim::InputError& error) {
    return tools::complain(error.what(), tools::kBadInput);
  } catch (const sim::OutputError& error) {
    return tools::complain(error.what(), tools::kBadInput);
  } catch (const fabric::CaptureError& error) {
    return tools::complain(error.what(), tools::kBadInput);
  } catch (const std::exception& error) {
    return tools::complain(tools::reason_of(error), tools::kRunFailed);
  }
}

}  // namespace

int sc_main(int argc, char** argv) {
  return run_program(argc, argv);
}

// libsystemc has a main of its own, which prints a banner.
int main(int argc, char** argv) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  // A reader that goes away early is reported as a failed write.
  std::signal(SIGPIPE, SIG_IGN);
  // So is a file that grows beyond a limit.
  std::signal(SIGXFSZ, SIG_IGN);
  hcasim::tools::watch_signals();
  return sc_core::sc_elab_and_sim(argc, argv);
}
