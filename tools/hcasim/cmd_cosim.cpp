// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <hcasim/sim/input_error.hpp>
#include <hcasim/sim/nearest.hpp>

#include <filesystem>
#include <optional>

#include "commands.hpp"
#include "cosim_report.hpp"
#include "output.hpp"
#include "own_rtl.hpp"
#include "sim/cosim/order_check.hpp"
#include "sim/output/file_roles.hpp"
#include "sim/record/output_directory.hpp"

namespace hcasim::tools {
namespace {

namespace fs = std::filesystem;
namespace cosim = sim::cosim;

/// So many cycles of all profiles reach every cover point.
constexpr std::uint64_t kCyclesOfGoal = 200'000;

std::shared_ptr<const hca::ReceiveQueueLibrary> load(const std::string& file) {
  try {
    return hca::ReceiveQueueLibrary::load(file);
  } catch (const hca::ReceiveQueueLibraryError& error) {
    throw sim::InputError(error.file(), 0, 0, error.expected(), error.found());
  }
}

/// What is compared, and the sizes that all of it has.
class Setup {
 public:
  explicit Setup(const CosimCommand& command) {
    sides.push_back(cosim::model_side());
    if (command.compare == "cycle") sides.push_back(cosim::skipping_model_side());
    std::vector<std::string> files = command.libraries;
    if (files.empty()) {
      if (const auto own = find_own_rtl("receive_queue_rtl.so")) files.push_back(*own);
    }
    for (const std::string& file : files) add(file);
    // A replay may be of the model alone; a cross-check would only seem to say something.
    if (sides.size() == 1 || (libraries_ == 0 && command.replay.empty())) {
      throw sim::InputError("--rtl", 0, 0,
                            "a plug-in, since this program was built without its RTL", "none");
    }
  }

  std::vector<cosim::Side> sides;
  hw::rq::Parameters parameters;

 private:
  // All have to be of one size; that of the first is taken.
  void add(const std::string& file) {
    const auto library = load(file);
    const hw::rq::Parameters& found = library->plugin().parameters;
    if (libraries_++ == 0) parameters = found;
    if (found != parameters) {
      throw sim::InputError(file, 0, 0, "the same parameters as the other RTL has", "others");
    }
    sides.push_back(cosim::rtl_side(library));
  }

  unsigned libraries_ = 0;
};

std::vector<const cosim::Profile*> chosen(const CosimCommand& command) {
  std::vector<const cosim::Profile*> found;
  std::vector<std::string_view> names;
  for (const cosim::Profile& profile : cosim::profiles()) {
    names.push_back(profile.name);
    if (command.profiles.empty()) found.push_back(&profile);
  }
  for (const std::string& name : command.profiles) {
    const cosim::Profile* const profile = cosim::find_profile(name);
    if (profile == nullptr) {
      throw sim::InputError("--profile", 0, 0, "a profile", name, sim::nearest(name, names));
    }
    found.push_back(profile);
  }
  return found;
}

/// The files of `--out`.
class Results {
 public:
  explicit Results(const CosimCommand& command) {
    if (!command.out.empty()) folder_.emplace(command.out);
  }

  std::string path(const std::string& name) const {
    return folder_ ? folder_->file(name).string() : std::string();
  }
  void write(const std::string& name, const std::string& text) {
    if (folder_) folder_->write(name, text, &files_);
  }
  void commit() { files_.commit(); }
  explicit operator bool() const { return folder_.has_value(); }

 private:
  std::optional<sim::OutputDirectory> folder_;
  sim::OutputSet files_;
};

int fail(const Setup& setup, const cosim::FailingStimulus& failing, const std::string& origin,
         Results& results, std::string text) {
  const FailureReport report = report_failure(setup.sides, failing, origin);
  text += report.text;
  for (const NamedText& file : report.files) {
    results.write(file.name, file.text);
    if (results) text += "wrote " + results.path(file.name) + "\n";
  }
  results.commit();
  write_stdout(text);
  return complain(cosim::to_text(failing.difference), kRunFailed);
}

/// A comparison by order has no cycle to show.
int fail_by_order(const Setup& setup, const cosim::FailingStimulus& failing,
                  const std::string& origin, Results& results, std::string text) {
  const cosim::FailingStimulus small = cosim::order_shrink(setup.sides, failing);
  text += "\n" + origin + "\n" + cosim::to_text(failing.difference) + "\n";
  const std::string shrunk = cosim::to_text(small.stimulus, cosim::to_text(small.difference));
  results.write("difference.txt", text);
  results.write("failure.stimulus", cosim::to_text(failing.stimulus));
  results.write("shrunk.stimulus", shrunk);
  results.commit();
  write_stdout(text + "\n" + shrunk);
  return complain(cosim::to_text(failing.difference), kRunFailed);
}

int replay(const CosimCommand& command, Setup& setup, Results& results) {
  const cosim::StimulusList stimulus = cosim::load_stimulus(command.replay);
  if (setup.parameters != stimulus.parameters) {
    if (!command.libraries.empty()) {
      throw sim::InputError(command.replay, 0, 0, "the parameters of the RTL", "others");
    }
    // The RTL that was built along has other sizes: the models are compared without it.
    setup.sides = {cosim::model_side(), cosim::skipping_model_side()};
  }
  const bool by_order = command.compare == "order";
  const auto difference =
      by_order ? cosim::order_replay(setup.sides, stimulus) : cosim::replay(setup.sides, stimulus);
  if (!difference) {
    write_stdout(fmt::format("{}: no difference in {} operations between {}\n", command.replay,
                             stimulus.operations.size(), side_names(setup.sides)));
    return kGood;
  }
  const std::string origin = "replay of " + command.replay;
  if (by_order) return fail_by_order(setup, {stimulus, *difference}, origin, results, {});
  return fail(setup, {stimulus, *difference}, origin, results, {});
}

int order_runs(const CosimCommand& command, const Setup& setup, Results& results) {
  std::string text = profile_head(setup.sides);
  for (const cosim::Profile* const profile : chosen(command)) {
    const cosim::RandomRun run{profile, setup.parameters, command.seed, command.cycles};
    const cosim::RunResult result = cosim::order_check(setup.sides, run);
    text += profile_line(*profile, result);
    if (!result.failing) continue;
    const std::string origin = fmt::format("profile {}, seed {}", profile->name, command.seed);
    return fail_by_order(setup, *result.failing, origin, results, std::move(text));
  }
  write_stdout(text);
  return kGood;
}

double goal_of(const CosimCommand& command) {
  if (command.goal) return *command.goal;
  const bool all = command.profiles.empty() && command.cycles >= kCyclesOfGoal;
  return all ? 100.0 : 0.0;
}

int random_runs(const CosimCommand& command, const Setup& setup, Results& results) {
  cosim::Coverage coverage;
  std::string text = profile_head(setup.sides);
  for (const cosim::Profile* const profile : chosen(command)) {
    const cosim::RandomRun run{profile, setup.parameters, command.seed, command.cycles};
    const cosim::RunResult result = cosim::cross_check(setup.sides, run, &coverage);
    text += profile_line(*profile, result);
    if (!result.failing) continue;
    const std::string origin = fmt::format("profile {}, seed {}", profile->name, command.seed);
    return fail(setup, *result.failing, origin, results, std::move(text));
  }
  results.write("coverage.txt", coverage.table());
  results.commit();
  text += "\n" + coverage_summary(coverage, results.path("coverage.txt"));
  write_stdout(text);
  const double goal = goal_of(command);
  if (coverage.percent() >= goal) return kGood;
  return complain(fmt::format("functional coverage is {:.1f} %, below the goal of {:g} %",
                              coverage.percent(), goal),
                  kRunFailed);
}

}  // namespace

int run_command(const CosimCommand& command) {
  if (command.compare != "cycle" && command.compare != "order") {
    throw sim::InputError("--compare", 0, 0, "cycle or order", command.compare);
  }
  sim::FileRoles roles;
  if (!command.replay.empty()) roles.reads("the stimulus", command.replay);
  if (!command.out.empty()) roles.writes("--out", "the folder of --out", command.out);
  chosen(command);  // a slip in a name is told before anything is made
  Setup setup(command);
  Results results(command);
  if (!command.replay.empty()) return replay(command, setup, results);
  if (command.compare == "order") return order_runs(command, setup, results);
  return random_runs(command, setup, results);
}

}  // namespace hcasim::tools
