// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "run.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <iostream>
#include <new>
#include <span>
#include <stdexcept>

#include "comparison.hpp"
#include "generator.hpp"

namespace hcasim::differential {
namespace {

constexpr std::size_t kMostSteps = 1'000'000;

// What parent and child both see; the child is in it before it crashes.
struct Shared {
  std::uint32_t done = 0;
  bool ended = false;
  Census census;
  std::uint64_t carried_out = 0;
  char difference[4096] = {};
  Operation steps[kMostSteps] = {};
};

class SharedMemory {
 public:
  SharedMemory()
      : at_(::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                   0)) {
    if (at_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~SharedMemory() { ::munmap(at_, sizeof(Shared)); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  Shared& operator*() { return *static_cast<Shared*>(at_); }

 private:
  void* at_;
};

void tell(Shared& shared, const std::string& difference) {
  std::strncpy(shared.difference, difference.c_str(), sizeof shared.difference - 1);
}

using Draw = std::function<Operation(const Reference& reference, std::uint32_t step)>;

void run_child(const Rules& rules, std::uint64_t seed, std::uint32_t steps, const Draw& draw,
               Shared& shared) {
  Comparison comparison(rules, seed);
  std::string difference;
  for (std::uint32_t i = 0; i < steps && difference.empty(); ++i) {
    const Operation op = draw(comparison.reference(), i);
    shared.steps[i] = op;
    shared.done = i + 1;
    if (!comparison.reference().skips(op)) ++shared.carried_out;
    difference = comparison.step(op);
  }
  tell(shared, comparison.finish());
  shared.census = comparison.census();
}

Outcome run_apart(const Rules& rules, std::uint64_t seed, std::uint32_t steps, const Draw& draw) {
  SharedMemory memory;
  Shared& shared = *memory;
  std::cout.flush();
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    try {
      run_child(rules, seed, steps, draw, shared);
    } catch (const std::exception& error) {
      tell(shared, error.what());
    }
    shared.ended = true;
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!shared.ended) tell(shared, "it crashes, status " + std::to_string(status));
  return {{shared.steps, shared.steps + shared.done},
          shared.difference,
          shared.census,
          shared.carried_out};
}

std::vector<Operation> without(const std::vector<Operation>& all, std::size_t from,
                               std::size_t count) {
  std::vector<Operation> rest(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(from));
  const std::size_t to = std::min(all.size(), from + count);
  rest.insert(rest.end(), all.begin() + static_cast<std::ptrdiff_t>(to), all.end());
  return rest;
}

// Leaves out pieces of half the sequence, of a quarter of it, and so on (delta debugging).
class Shrinker {
 public:
  Shrinker(const Rules& rules, std::uint64_t seed, const Outcome& failed, std::uint64_t most_steps)
      : rules_(rules), seed_(seed), best_(failed), steps_left_(most_steps) {}

  Outcome shrink() {
    keep_the_end();
    std::size_t piece = best_.done.size();
    while (piece > 1 && steps_left_ > 0) {
      piece = (piece + 1) / 2;
      while (leave_out_pieces(piece) && piece == 1) {
      }
    }
    return best_;
  }

 private:
  bool try_it(const std::vector<Operation>& sequence) {
    steps_left_ -= std::min<std::uint64_t>(steps_left_, sequence.size() + 1);
    Outcome outcome = run_given(rules_, seed_, sequence);
    if (outcome.difference.empty()) return false;
    best_ = std::move(outcome);
    return true;
  }

  // Most failures need no more than the last steps.
  void keep_the_end() {
    for (std::size_t keep = 16; keep < best_.done.size() && steps_left_ > 0; keep *= 4) {
      if (try_it(without(best_.done, 0, best_.done.size() - keep))) return;
    }
  }

  bool leave_out_pieces(std::size_t piece) {
    bool any = false;
    std::size_t end = best_.done.size();
    while (end > 0 && steps_left_ > 0 && best_.done.size() > 1) {
      const std::size_t from = end > piece ? end - piece : 0;
      any = try_it(without(best_.done, from, end - from)) || any;
      end = std::min(from, best_.done.size());
    }
    return any;
  }

  Rules rules_;
  std::uint64_t seed_;
  Outcome best_;
  std::uint64_t steps_left_;
};

}  // namespace

Outcome run_drawn(const Rules& rules, std::uint64_t seed, std::uint32_t steps) {
  Generator generator(seed);
  return run_apart(rules, seed, steps, [&](const Reference& reference, std::uint32_t step) {
    return generator.next(reference, step);
  });
}

Outcome run_given(const Rules& rules, std::uint64_t seed, const std::vector<Operation>& sequence) {
  return run_apart(rules, seed, static_cast<std::uint32_t>(sequence.size()),
                   [&](const Reference&, std::uint32_t step) { return sequence[step]; });
}

Outcome shrink(const Rules& rules, std::uint64_t seed, const Outcome& failed,
               std::uint64_t most_steps) {
  return Shrinker(rules, seed, failed, most_steps).shrink();
}

std::string report(std::uint64_t seed, const Outcome& outcome) {
  return "HCASIM_SEED=" + std::to_string(seed) + ", " + std::to_string(outcome.done.size()) +
         " steps\n" + to_trace(outcome.done) + "# then:\n" + outcome.difference + '\n';
}

}  // namespace hcasim::differential
