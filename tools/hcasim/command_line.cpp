// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The only file of the program that sees CLI11: compiling it takes long.
#include <hcasim/sim/nearest.hpp>

#include <CLI/CLI.hpp>

#include "options.hpp"

namespace hcasim::tools {
namespace {

/// Preset, file and settings: the same for each subcommand that takes a configuration.
void add_sources(CLI::App& command, sim::ConfigSources& sources) {
  command.add_option("--preset", sources.preset, "Preset to start from (default: generic)")
      ->type_name("NAME");
  command.add_option("--config", sources.file, "Configuration in TOML")->type_name("FILE");
  command.add_option("--set", sources.settings, "Set one key, such as pcie.width=8; repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

class CommandLine {
 public:
  CommandLine() {
    app_.set_version_flag("--version", "hcasim " HCASIM_VERSION);
    define_config();
    for (CLI::App* command : app_.get_subcommands({})) command->allow_extras();
    app_.allow_extras();
  }

  Options parse(int argc, const char* const* argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
      return PrintOptions{app_.help()};
    } catch (const CLI::CallForVersion&) {
      return PrintOptions{app_.version() + "\n"};
    } catch (const CLI::ParseError& error) {
      fail(error.what());
    }
    if (app_.get_subcommands().empty()) fail_without_command();
    const CLI::App& command = *app_.get_subcommands().front();
    if (!command.remaining().empty()) fail_unexpected(command);
    if (command.count("--preset") > 0 && command.count("--config") > 0) {
      fail("--preset and --config exclude each other");
    }
    return config_;
  }

 private:
  void define_config() {
    CLI::App& command = *app_.add_subcommand(
        "config", "Print the effective configuration with type, range and source of each key");
    add_sources(command, config_.sources);
    command.add_flag("--markdown", config_.markdown, "Print the reference of all keys instead");
  }

  std::string command_names() {
    std::string names;
    for (const CLI::App* command : app_.get_subcommands({})) {
      names += (names.empty() ? "" : ", ") + command->get_name();
    }
    return names;
  }

  [[noreturn]] void fail(const std::string& reason) const {
    std::string help = "hcasim ";
    if (!app_.get_subcommands().empty()) help += app_.get_subcommands().front()->get_name() + " ";
    throw UsageError(reason + "; see '" + help + "--help'");
  }

  static std::string with_suggestion(std::string text, const std::string& suggestion) {
    if (!suggestion.empty()) text += "; did you mean '" + suggestion + "'?";
    return text;
  }

  [[noreturn]] void fail_without_command() {
    const std::string expected = "expected a command (" + command_names() + ")";
    if (app_.remaining().empty()) fail(expected);
    const std::string found = app_.remaining().front();
    std::vector<std::string> words = {"--help", "--version"};
    for (const CLI::App* command : app_.get_subcommands({})) words.push_back(command->get_name());
    throw UsageError(
        with_suggestion(expected + ", found '" + found + "'", sim::nearest(found, words)));
  }

  [[noreturn]] void fail_unexpected(const CLI::App& command) const {
    const std::string found = command.remaining().front();
    std::vector<std::string> words;
    for (const CLI::Option* option : command.get_options()) words.push_back(option->get_name());
    throw UsageError(with_suggestion(
        "expected an option of 'hcasim " + command.get_name() + "', found '" + found + "'",
        sim::nearest(found, words)));
  }

  CLI::App app_{"Simulates RDMA host channel adapters cycle by cycle.", "hcasim"};
  ConfigOptions config_;
};

}  // namespace

Options parse_command_line(int argc, const char* const* argv) {
  return CommandLine().parse(argc, argv);
}

}  // namespace hcasim::tools
