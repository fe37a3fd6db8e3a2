// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// run_mutants EQUIVALENT: runs every mutant and writes the lines of verdicts.txt to stdout,
// progress to stderr.
#include <exception>
#include <iostream>

#include "verdict.hpp"

namespace hcasim::testbench {
namespace {

struct Tally {
  unsigned killed = 0, equivalent = 0, survived = 0;
};

// What passes without a mutant: else nothing that follows means anything.
void check_right_rtl(const MutantFamily& family) {
  if (const auto kill = hunt(family, 0)) {
    throw std::runtime_error(family.name() + ": the right RTL is killed: " +
                             to_text(Verdict{{family.name(), 0, "no mutant"}, kill, {}}));
  }
}

void judge(const MutantFamily& family, const std::map<std::string, std::string>& reasons,
           const std::map<std::string, Verdict>& known) {
  Tally tally;
  for (const Mutant& mutant : family.mutants()) {
    Verdict verdict{mutant, kill(family, mutant, known), {}};
    const auto reason = reasons.find(mutant.family + " | " + mutant.text);
    if (!verdict.kill && reason != reasons.end()) verdict.reason = reason->second;
    ++(verdict.kill ? tally.killed : verdict.reason.empty() ? tally.survived : tally.equivalent);
    std::cout << to_text(verdict) << std::endl;
  }
  std::cerr << family.name() << ": " << tally.killed << " killed, " << tally.equivalent
            << " equivalent, " << tally.survived << " survived\n";
}

int run(const std::string& reasons_file, const char* known_file) {
  const auto reasons = read_reasons(reasons_file);
  std::map<std::string, Verdict> known;
  if (known_file != nullptr) known = read_verdicts(known_file);
  for (const MutantFamily& family : rtl_families()) {
    check_right_rtl(family);
    judge(family, reasons, known);
  }
  return 0;
}

}  // namespace
}  // namespace hcasim::testbench

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::cerr << "run_mutants: expected the file of equivalent mutants, and perhaps verdicts\n";
    return 2;
  }
  try {
    return hcasim::testbench::run(argv[1], argc == 3 ? argv[2] : nullptr);
  } catch (const std::exception& error) {
    std::cerr << "run_mutants: " << error.what() << '\n';
    return 1;
  }
}
