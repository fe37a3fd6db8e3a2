// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

// The project's benchmark: how many messages the simulator carries a second, as a ratio to what the
// SystemC kernel does alone on the same machine in the same minute.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "bare_rate.hpp"
#include "measurement.hpp"
#include "workloads.hpp"

namespace {

using hcasim::bench::Outcome;
using hcasim::bench::Workload;

constexpr std::uint64_t kBareEvents = 3'000'000;

struct Options {
  bool json = false;
  std::uint64_t messages = 200'000;
  std::uint64_t rounds = 5;
  std::string only;  ///< part of the names of the workloads to run; empty: all
};

struct Result {
  Workload workload;
  Outcome best;
};

// Interleaved, so that a slow stretch of the machine hits all alike; the best of each counts.
double run_all(std::vector<Result>& results, std::uint64_t rounds) {
  double bare = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    bare = std::max(bare, hcasim::bench::measure<double>(
                              [] { return hcasim::bench::bare_events_per_second(kBareEvents); }));
    for (Result& result : results) {
      const auto outcome = hcasim::bench::measure<Outcome>(
          [&] { return hcasim::bench::run_workload(result.workload); });
      if (round == 0 || outcome.seconds < result.best.seconds) result.best = outcome;
    }
  }
  return bare;
}

/// What one queue pair in RTS costs that has nothing posted.
double bytes_per_idle_qp() {
  constexpr std::size_t kFew = 1'000;
  constexpr std::size_t kMany = 100'000;
  constexpr double kNodes = 2;  // each connection is a queue pair on both
  const auto resident = [](std::size_t queues) {
    return hcasim::bench::measure<double>([queues] {
      return hcasim::bench::resident_bytes_when_idle(hcasim::bench::idle_queues(queues));
    });
  };
  return (resident(kMany) - resident(kFew)) / (kMany - kFew) / kNodes;
}

double rate(const Result& result) {
  return static_cast<double>(result.workload.messages) / result.best.seconds;
}

void print_json(const std::vector<Result>& results, double bare, std::optional<double> idle) {
  nlohmann::ordered_json json;
  json["bare_events_per_second"] = bare;
  if (idle) json["bytes_per_idle_qp"] = *idle;
  for (const Result& result : results) {
    nlohmann::ordered_json row;
    row["messages"] = result.workload.messages;
    row["messages_per_second"] = rate(result);
    row["ratio"] = rate(result) / bare;
    row["kernel_events_per_message"] = result.best.kernel_events_per_message;
    row["engine_events_per_message"] = result.best.engine_events_per_message;
    row["allocations_per_message"] = result.best.allocations_per_message;
    row["peak_memory_mib"] = result.best.peak_memory_mib;
    row["simulated_messages_per_second"] = result.best.simulated_messages_per_second;
    json["workloads"][result.workload.name] = row;
  }
  std::printf("%s\n", json.dump(2).c_str());
}

void print_table(const std::vector<Result>& results, double bare, std::optional<double> idle) {
  std::printf("bare SystemC events: %.2f M/s\n", bare / 1e6);
  std::printf("%-34s %9s %7s %8s %8s %8s %6s %9s\n", "workload", "k msg/s", "ratio", "kernel/m",
              "engine/m", "allocs/m", "MiB", "sim M/s");
  for (const Result& result : results) {
    std::printf("%-34s %9.1f %7.4f %8.3f %8.2f %8.4f %6.1f %9.2f\n", result.workload.name.c_str(),
                rate(result) / 1e3, rate(result) / bare, result.best.kernel_events_per_message,
                result.best.engine_events_per_message, result.best.allocations_per_message,
                result.best.peak_memory_mib, result.best.simulated_messages_per_second / 1e6);
  }
  if (idle) std::printf("an idle queue pair takes %.0f bytes\n", *idle);
}

// A count of at least one.
bool parse_count(const char* text, std::uint64_t& count) {
  char* end = nullptr;
  count = std::strtoull(text, &end, 10);
  return *end == '\0' && count != 0;
}

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) {
      options.json = true;
    } else if (std::strcmp(argv[i], "--messages") == 0 && i + 1 < argc) {
      if (!parse_count(argv[++i], options.messages)) return false;
    } else if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
      if (!parse_count(argv[++i], options.rounds)) return false;
    } else if (std::strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
      options.only = argv[++i];
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

int sc_main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(
        stderr, "usage: hcasim-bench [--json] [--messages N] [--rounds N] [--only PART-OF-NAME]\n");
    return 2;
  }
  try {
    std::vector<Result> results;
    for (Workload& workload : hcasim::bench::workloads(options.messages)) {
      if (workload.name.find(options.only) == std::string::npos) continue;
      results.push_back({std::move(workload), {}});
    }
    const double bare = run_all(results, options.rounds);
    std::optional<double> idle;
    if (options.only.empty() || options.only == "idle") idle = bytes_per_idle_qp();
    options.json ? print_json(results, bare, idle) : print_table(results, bare, idle);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hcasim-bench: %s\n", error.what());
    return 1;
  }
  return 0;
}

int main(int argc, char** argv) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  return sc_core::sc_elab_and_sim(argc, argv);
}
