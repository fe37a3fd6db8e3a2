// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "hcasim/hw/time.hpp"
#include "hcasim/sim/config.hpp"
#include "hcasim/sim/receive_queue_choice.hpp"
#include "hcasim/sim/run_statistics.hpp"

namespace hcasim::sim {

class OutputSet;
class RunObserver;

/// What a run is asked for beside its configuration.
struct RunOptions {
  std::string trace;                 ///< file to replay; it is opened several times
  std::string trace_name;            ///< stands for it in errors; empty: `trace` does
  std::uint64_t seed = 1;            ///< of everything that is drawn
  bool run_ahead = true;             ///< results are the same without; for comparison
  ReceiveQueueChoice receive_queue;  ///< results are the same with each
  hw::Time measure_from = 0;         ///< leaves out of the results what comes before this time
  std::string completions_csv;       ///< file for a row per message; empty: none
  std::string pcap;                  ///< file for the packets of the run; empty: none
  std::string ftrace;                ///< file for the drivers' tracepoints; empty: none
  /// Gives the files their names, later and together; null: each has it at the end of the run.
  OutputSet* outputs = nullptr;
  /// Called now and then with simulated time since the epoch and messages done; null: never.
  void (*progress)(hw::Time sim_time, std::uint64_t messages) = nullptr;
  /// Asked often: true ends the run between two events, with partial results; null: never.
  bool (*interrupted)() = nullptr;
  /// Told of packets and queue pairs, see run_observer.hpp; it must outlive the run. Null: nobody.
  RunObserver* observer = nullptr;
};

/// What came of it.
struct RunResult {
  RunStatistics statistics;
  std::uint64_t engine_events = 0;       ///< events of all engines since the epoch
  std::uint64_t kernel_activations = 0;  ///< SystemC activations of all engines since the epoch
  std::uint64_t posts_refused = 0;       ///< work requests that a verb gave back
  std::vector<std::string> refusals;     ///< the first of them by node, a line of text each
  std::uint64_t late_controls = 0;       ///< control operations that began after their time
  ReceiveQueueComparison receive_queue;  ///< of lockstep
  std::string receive_queue_coverage;    ///< a table of text; empty unless it was asked for
  /// Why the trace did not come to its end, in one line; empty when it did. The statistics are
  /// those up to there.
  std::string failure;
};

/// A run that began and could not be completed. what() is one line.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Replays a trace on simulated hosts. One run a process, since SystemC holds one simulation.
/// @throws InputError when the trace is wrong, before anything was written, or when the RTL that is
///         to be used does not fit the configuration or the trace
/// @throws RunError when the simulation cannot go on, as when a control verb is refused
/// @throws hca::LockstepMismatch, hca::RtlFault when a receive-queue unit is wrong
/// @throws OutputError when an output cannot be written
RunResult run_trace(const RunOptions& options, const SystemConfig& config);

}  // namespace hcasim::sim
