// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Delta debugging on the list of operations, then smaller numbers, until neither helps.
#include "sim/cosim/shrink.hpp"

#include <algorithm>
#include <set>

namespace hcasim::sim::cosim {
namespace {

using Operations = std::vector<Operation>;

/// Two waits in a row are one. Waits at the end stay: something may only show after them.
Operations join_waits(const Operations& operations) {
  Operations joined;
  for (const Operation& operation : operations) {
    const bool follows = operation.kind == OperationKind::kWait && !joined.empty() &&
                         joined.back().kind == OperationKind::kWait;
    if (follows) {
      joined.back().count += operation.count;
    } else {
      joined.push_back(operation);
    }
  }
  return joined;
}

class Shrinker {
 public:
  Shrinker(const TryStimulus& attempt, const FailingStimulus& failing, hca::Cycle budget)
      : attempt_(attempt), best_(failing), budget_(budget) {}

  FailingStimulus shrink() {
    try_operations(best_.stimulus.operations);  // cuts off what comes after the difference
    std::size_t before = 0;
    do {
      before = weight();
      remove();
      shorten_waits();
      renumber_queues();
      simplify();
    } while (weight() < before && budget_ != 0);
    return best_;
  }

 private:
  Operations& operations() { return best_.stimulus.operations; }

  /// Falls with each success that is worth another round.
  std::size_t weight() {
    std::size_t sum = 0;
    for (const Operation& operation : operations()) {
      sum += 1000;
      for (const Field& field : form_of(operation.kind).fields) {
        sum += std::min<std::size_t>(operation.*field.member, 15);
      }
    }
    return sum;
  }

  /// Keeps the candidate if it fails in the same way, up to the operation that shows it.
  bool try_operations(const Operations& candidate) {
    if (budget_ == 0) return false;
    const StimulusList joined{best_.stimulus.parameters, join_waits(candidate)};
    const Trial trial = attempt_(joined);
    budget_ -= std::min(budget_, trial.cycles + 1);
    if (!trial.difference || !trial.difference->same_kind(best_.difference)) return false;
    const auto used = static_cast<std::ptrdiff_t>(trial.operations);
    operations().assign(joined.operations.begin(), joined.operations.begin() + used);
    best_.difference = *trial.difference;
    return true;
  }

  void remove() {
    for (std::size_t chunk = std::max<std::size_t>(1, operations().size() / 2);; chunk /= 2) {
      // From the end: what came last is what the failure needs most, and the cut is cheap to find.
      for (std::size_t end = operations().size(); end > 0;) {
        const std::size_t begin = end > chunk ? end - chunk : 0;
        Operations candidate = operations();
        candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(begin),
                        candidate.begin() + static_cast<std::ptrdiff_t>(end));
        try_operations(candidate);
        end = std::min(begin, operations().size());
      }
      if (chunk <= 1) break;
    }
  }

  /// Time is what makes replays dear; all waits at once often do with a fraction.
  void shorten_waits() {
    for (const unsigned divisor : {8U, 4U, 2U}) {
      Operations candidate = operations();
      for (Operation& operation : candidate) {
        if (operation.kind != OperationKind::kWait) continue;
        operation.count = std::max(1U, operation.count / divisor);
      }
      try_operations(candidate);
    }
  }

  /// Queues 0, 1, 2 ... in the order in which they come.
  void renumber_queues() {
    std::vector<std::uint32_t> seen;
    for (const Operation& operation : Operations(operations())) {
      if (!has_queue(operation) || operation.queue >= best_.stimulus.parameters.queues) continue;
      if (std::find(seen.begin(), seen.end(), operation.queue) != seen.end()) continue;
      const auto wanted = static_cast<std::uint32_t>(seen.size());
      if (wanted != operation.queue) swap_queues(wanted, operation.queue);
      seen.push_back(wanted);
    }
  }

  void swap_queues(std::uint32_t left, std::uint32_t right) {
    Operations candidate = operations();
    for (Operation& operation : candidate) {
      if (!has_queue(operation)) continue;
      if (operation.queue == left) {
        operation.queue = right;
      } else if (operation.queue == right) {
        operation.queue = left;
      }
    }
    try_operations(candidate);
  }

  static bool has_queue(const Operation& operation) {
    const auto fields = form_of(operation.kind).fields;
    return std::any_of(fields.begin(), fields.end(),
                       [](const Field& f) { return f.member == &Operation::queue; });
  }

  void simplify() {
    for (std::size_t i = 0; i < operations().size(); ++i) {
      for (const Field& field : form_of(operations()[i].kind).fields) {
        while (i < operations().size() && smaller(i, field)) {
        }
        if (i >= operations().size()) return;
      }
    }
  }

  /// One step down for one number.
  bool smaller(std::size_t index, const Field& field) {
    const std::uint32_t value = operations()[index].*field.member;
    const std::uint32_t least = field.form == FieldForm::kBits ? 2 : field.least;
    if (value <= least) return false;
    std::set<std::uint32_t> smaller{least, least + (value - least) / 2, value - 1};
    if (field.member == &Operation::stride) smaller = {64, value / 2};
    if (field.form == FieldForm::kBits) smaller = {2, 3};
    if (field.member == &Operation::arm) smaller = {0, 1};
    const OperationKind kind = operations()[index].kind;
    for (const std::uint32_t candidate : smaller) {
      if (candidate >= value) continue;
      Operations changed = operations();
      changed[index].*field.member = candidate;
      if (!try_operations(changed)) continue;
      // A cut or a joined wait may have moved what follows.
      return index < operations().size() && operations()[index].kind == kind;
    }
    return false;
  }

  const TryStimulus& attempt_;
  FailingStimulus best_;
  hca::Cycle budget_;
};

}  // namespace

std::optional<Difference> replay(std::span<const Side> sides, const StimulusList& stimulus) {
  Bench bench(sides, stimulus.parameters);
  ListSource source(stimulus.operations);
  return bench.run(source);
}

FailingStimulus shrink(const TryStimulus& attempt, const FailingStimulus& failing,
                       hca::Cycle budget) {
  return Shrinker(attempt, failing, budget).shrink();
}

FailingStimulus shrink(std::span<const Side> sides, const FailingStimulus& failing,
                       hca::Cycle budget) {
  const auto attempt = [sides](const StimulusList& stimulus) {
    Bench bench(sides, stimulus.parameters);
    ListSource source(stimulus.operations);
    Trial trial;
    trial.difference = bench.run(source);
    trial.cycles = bench.cycles();
    trial.operations = source.position();
    return trial;
  };
  return shrink(TryStimulus(attempt), failing, budget);
}

}  // namespace hcasim::sim::cosim
