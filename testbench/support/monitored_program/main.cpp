// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The program hcasim with the protocol monitor at all its ports, for tests. Violations go, as soon
// as they are found, to the file that HCASIM_MONITOR names; without it the program ends at once.
// With HCASIM_MONITOR_DEAF the monitor is told of no arrival, so that it finds something.
#include <cstdio>
#include <cstdlib>
#include <systemc>

#include "program.hpp"
#include "support/monitored_run.hpp"

namespace {

using namespace hcasim;

/// Writes what the monitor finds after each packet, since a signal may end the program.
class ReportingRun final : public support::MonitoredRun {
 public:
  explicit ReportingRun(std::FILE* to) : to_(to) {}

  void on_sent(std::size_t node, const fabric::Packet& packet, hw::Time start) override {
    MonitoredRun::on_sent(node, packet, start);
    report();
  }
  void on_arrived(std::size_t node, const fabric::Packet& packet, hw::Time end) override {
    if (!deaf_) MonitoredRun::on_arrived(node, packet, end);
  }

 private:
  void report() {
    if (monitor().violations().empty()) return;
    std::fputs(monitor().violations().text().c_str(), to_);
    std::fflush(to_);
    monitor().violations().clear();
  }

  std::FILE* to_;
  bool deaf_ = std::getenv("HCASIM_MONITOR_DEAF") != nullptr;
};

}  // namespace

int sc_main(int argc, char** argv) {
  const char* const file = std::getenv("HCASIM_MONITOR");
  std::FILE* const to = file == nullptr ? nullptr : std::fopen(file, "a");
  if (to == nullptr) std::abort();
  ReportingRun run(to);
  const int status = tools::run_program(argc, argv, &run);
  std::fclose(to);
  return status;
}

int main(int argc, char** argv) {
  return tools::enter(argc, argv);
}
