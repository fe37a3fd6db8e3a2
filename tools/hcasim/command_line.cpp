// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The only file of the program that sees CLI11: compiling it takes long.
#include <hcasim/sim/input_error.hpp>
#include <hcasim/sim/nearest.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>

#include "options.hpp"
#include "sim/trace/spelling.hpp"

namespace hcasim::tools {
namespace {

/// The name of a file or folder, or several. An empty one is a slip of a script, and would pass for
/// none.
template <typename Paths>
CLI::Option* add_path(CLI::App& app, const std::string& name, Paths& path,
                      const std::string& text) {
  return app.add_option(name, path, text)->check([](const std::string& given) {
    return given.empty() ? std::string("expected a name, found nothing") : std::string();
  });
}

/// A time as traces spell it.
template <typename Time>
void add_time(CLI::App& app, const std::string& name, Time& time, const std::string& text) {
  const auto take = [name, &time](const std::string& given) {
    hw::Time read = 0;
    if (!sim::trace::parse_time(given, read)) {
      throw sim::InputError(name, 0, 0, "a time such as 20us or 1.5ms", given);
    }
    time = read;
  };
  app.add_option_function<std::string>(name, take, text)->type_name("TIME");
}

/// A whole number in decimal digits, which a 64-bit integer holds.
CLI::Option* add_number(CLI::App& app, const std::string& name, std::uint64_t& number,
                        const std::string& text) {
  const auto take = [name, &number](const std::string& given) {
    const char* const end = given.data() + given.size();
    const auto [last, error] = std::from_chars(given.data(), end, number);
    if (error == std::errc() && last == end) return;
    throw sim::InputError(
        name, 0, 0,
        "a number from 0 to " + std::to_string(std::numeric_limits<std::uint64_t>::max()),
        given.empty() ? "nothing" : given);
  };
  return app.add_option_function<std::string>(name, take, text);
}

/// Preset, file and settings: the same for each command that takes a configuration.
void add_sources(CLI::App& app, sim::ConfigSources& sources) {
  app.add_option("--preset", sources.preset, "Preset to start from (default: generic)")
      ->type_name("NAME");
  add_path(app, "--config", sources.file, "Configuration in TOML")->type_name("FILE");
  app.add_option("--set", sources.settings, "Set one key, such as pcie.width=8; repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

void define(CLI::App& app, ConfigCommand& command) {
  add_sources(app, command.sources);
  app.add_flag("--markdown", command.markdown, "Print the reference of all keys instead");
}

/// Percent.
void add_percent(CLI::App& app, const std::string& name, std::optional<double>& percent,
                 const std::string& text) {
  const auto take = [name, &percent](const std::string& given) {
    const char* const end = given.data() + given.size();
    double number = -1;
    const auto [last, error] = std::from_chars(given.data(), end, number);
    if (error != std::errc() || last != end || !(number >= 0 && number <= 100)) {
      throw sim::InputError(name, 0, 0, "a number from 0 to 100",
                            given.empty() ? "nothing" : given);
    }
    percent = number;
  };
  app.add_option_function<std::string>(name, take, text)->type_name("PERCENT");
}

void define(CLI::App& app, CosimCommand& command) {
  add_number(app, "--cycles", command.cycles, "Cycles of each profile (default: 200000)")
      ->type_name("N");
  add_number(app, "--seed", command.seed, "Seed of everything that is drawn (default: 1)")
      ->type_name("N");
  app.add_option("--profile", command.profiles, "Kind of traffic; repeatable (default: all)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  add_path(app, "--rtl", command.libraries,
           "Plug-in with RTL to compare; repeatable (default: the one that was built along)")
      ->type_name("LIB")
      ->allow_extra_args(false);
  app.add_option("--compare", command.compare,
                 "Compare every port in every cycle (default), or order and content only, for RTL "
                 "of other latency: cycle or order")
      ->type_name("HOW");
  add_path(app, "--replay", command.replay, "Replay a stimulus instead")->type_name("FILE");
  add_path(app, "--out", command.out,
           "Write coverage.txt to DIR, or what shows and replays a difference")
      ->type_name("DIR");
  add_percent(app, "--goal", command.goal,
              "Fail below so much functional coverage (default: 100 for all profiles of at least "
              "200000 cycles, else 0)");
}

void define(CLI::App& app, ImportCommand& command) {
  add_path(app, "CAPTURE", command.captures,
           "Captures of RoCEv2 or InfiniBand packets; several are merged by time. Or a text of "
           "rdmavt's tracepoints")
      ->type_name("")
      ->required();
  add_path(app, "-o,--output", command.trace, "Trace to write; compressed if it ends in .zst")
      ->type_name("TRACE")
      ->required();
  add_time(app, "--window", command.window,
           "A packet that two captures show within TIME counts once (default: 1ms)");
  app.add_flag("--json", command.json, "Print what was found as JSON");
  app.add_option("--receives", command.receives,
                 "Post receives ahead (before they are needed; default) or as-seen (late where "
                 "the capture has RNR NAKs)")
      ->type_name("HOW");
  app.add_option("--timing", command.timing,
                 "Post sends as captured (at the capture's times; default) or asap (after what was "
                 "complete before them)")
      ->type_name("HOW");
  app.add_option("--assume", command.assumptions,
                 "Change a number that the capture cannot tell (see the head of a trace); "
                 "repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

void define(CLI::App& app, RunCommand& command) {
  add_path(app, "TRACE", command.trace, "Trace to replay")->required();
  add_sources(app, command.sources);
  add_number(app, "--seed", command.seed, "Seed of everything that is drawn (default: 1)")
      ->type_name("N");
  add_time(app, "--measure-from", command.measure_from,
           "Leave what comes before TIME out of all results but those of --pcap and --ftrace");
  add_path(app, "--out", command.out, "Write stats.json, completions.csv and config.toml to DIR")
      ->type_name("DIR");
  app.add_flag("--json", command.json, "Print the main results as JSON");
  add_path(app, "--pcap", command.pcap,
           "Write the packets of the run: what each node sends, as it leaves the node")
      ->type_name("FILE");
  add_path(app, "--ftrace", command.ftrace,
           "Write the tracepoints of the drivers as Linux does for rdmavt")
      ->type_name("FILE");
  app.add_option("--rq", command.receive_queue,
                 "Receive-queue unit of the adapters: model (default), rtl, or lockstep (the model "
                 "compared with the RTL in every cycle); the results are the same")
      ->type_name("KIND");
  add_path(app, "--rtl", command.rtl,
           "RTL to take (default: the project's own), a plug-in made by hcasim_add_rtl(); with "
           "lockstep repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
  add_path(app, "--rq-coverage", command.rq_coverage,
           "Judge the receive-queue units by their rules and write the cover points that they hit")
      ->type_name("FILE");
  add_path(
      app, "--record-rq", command.record_rq,
      "Write the traffic of the receive-queue units as stimulus of the cross-check, one file a "
      "node: NAME.stimulus becomes NAME-NODE.stimulus")
      ->type_name("FILE");
  app.add_flag("--no-run-ahead", command.no_run_ahead,
               "Keep all nodes in step: slower, with the same results");
}

std::string with_suggestion(std::string text, const std::string& suggestion) {
  if (!suggestion.empty()) text += "; did you mean '" + suggestion + "'?";
  return text;
}

class CommandLine {
 public:
  CommandLine() {
    app_.set_version_flag("--version", "hcasim " HCASIM_VERSION);
    app_.allow_extras();
    app_.require_subcommand(0, 1);
    add("config", "Print the effective configuration with type, range and source of each key",
        config_);
    add("cosim", "Compare receive-queue RTL with the model on every cycle of random traffic",
        cosim_);
    add("import", "Turn a capture or tracepoints into a trace and say what was found", import_);
    add("run", "Replay a trace on simulated hosts", run_);
  }

  Command parse(int argc, const char* const* argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
      return PrintCommand{app_.help()};
    } catch (const CLI::CallForVersion&) {
      return PrintCommand{app_.version() + "\n"};
    } catch (const CLI::ParseError& error) {
      fail(error.what());
    }
    if (app_.get_subcommands().empty()) fail_without_command();
    const CLI::App& chosen = *app_.get_subcommands().front();
    if (!app_.remaining().empty()) fail_early(chosen);
    if (const auto found = first_unexpected(chosen)) fail_unexpected(chosen, *found);
    check_sources(chosen);
    if (chosen.get_name() == "cosim") return cosim_;
    if (chosen.get_name() == "import") return import_;
    if (chosen.get_name() == "run") return run_;
    return config_;
  }

 private:
  template <typename T>
  void add(const std::string& name, const std::string& text, T& command) {
    CLI::App& app = *app_.add_subcommand(name, text);
    app.allow_extras();
    define(app, command);
  }

  void check_sources(const CLI::App& chosen) const {
    const auto given = [&](const char* name) {
      const CLI::Option* option = chosen.get_option_no_throw(name);
      return option != nullptr && option->count() > 0;
    };
    if (given("--preset") && given("--config")) fail("--preset and --config exclude each other");
  }

  std::vector<std::string> command_names() {
    std::vector<std::string> names;
    for (const CLI::App* app : app_.get_subcommands({})) names.push_back(app->get_name());
    return names;
  }

  [[noreturn]] void fail(const std::string& reason) const {
    std::string help = "hcasim ";
    if (!app_.get_subcommands().empty()) help += app_.get_subcommands().front()->get_name() + " ";
    throw UsageError(reason + "; see '" + help + "--help'");
  }

  [[noreturn]] void fail_without_command() {
    std::vector<std::string> words = command_names();
    const std::string expected = "expected a command (" + CLI::detail::join(words, ", ") + ")";
    if (app_.remaining().empty()) fail(expected);
    const std::string found = app_.remaining().front();
    words.insert(words.end(), {"--help", "--version"});
    throw UsageError(
        with_suggestion(expected + ", found '" + found + "'", sim::nearest(found, words)));
  }

  [[noreturn]] void fail_early(const CLI::App& chosen) const {
    throw UsageError("expected a command, and its options behind it, found '" +
                     app_.remaining().front() + "' before '" + chosen.get_name() + "'");
  }

  /// The library keeps the mark behind which nothing is an option among what it did not expect.
  static std::optional<std::string> first_unexpected(const CLI::App& chosen) {
    const std::vector<std::string> all = chosen.remaining();
    const auto found = std::ranges::find_if(all, [](const auto& word) { return word != "--"; });
    return found == all.end() ? std::nullopt : std::optional(*found);
  }

  [[noreturn]] static void fail_unexpected(const CLI::App& chosen, const std::string& found) {
    std::vector<std::string> words;
    for (const CLI::Option* option : chosen.get_options()) {
      if (!option->get_positional()) words.push_back(option->get_name());
    }
    throw UsageError(with_suggestion(
        "expected an option of 'hcasim " + chosen.get_name() + "', found '" + found + "'",
        sim::nearest(found, words)));
  }

  CLI::App app_{"Simulates RDMA host channel adapters cycle by cycle.", "hcasim"};
  ConfigCommand config_;
  CosimCommand cosim_;
  ImportCommand import_;
  RunCommand run_;
};

}  // namespace

Command parse_command_line(int argc, const char* const* argv) {
  return CommandLine().parse(argc, argv);
}

}  // namespace hcasim::tools
