// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <hcasim/sim/input_error.hpp>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <systemc>

#include "commands.hpp"
#include "fabric/capture_file.hpp"
#include "interruption.hpp"
#include "output.hpp"

namespace hcasim::tools {

namespace {

struct Carrier {
  int operator()(const RunCommand& command) const { return run_command(command, observer); }
  int operator()(const auto& command) const { return run_command(command); }

  sim::RunObserver* observer;
};

}  // namespace

int run_program(int argc, char** argv, sim::RunObserver* observer) {
  try {
    return std::visit(Carrier{observer}, parse_command_line(argc, argv));
  } catch (const UsageError& error) {
    return complain(error.what(), kBadInput);
  } catch (const sim::InputError& error) {
    return complain(error.what(), kBadInput);
  } catch (const sim::OutputError& error) {
    return complain(error.what(), kBadInput);
  } catch (const fabric::CaptureError& error) {
    return complain(error.what(), kBadInput);
  } catch (const std::exception& error) {
    return complain(reason_of(error), kRunFailed);
  }
}

int enter(int argc, char** argv) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  // A reader that goes away early is reported as a failed write.
  std::signal(SIGPIPE, SIG_IGN);
  // So is a file that grows beyond a limit.
  std::signal(SIGXFSZ, SIG_IGN);
  watch_signals();
  return sc_core::sc_elab_and_sim(argc, argv);
}

}  // namespace hcasim::tools
