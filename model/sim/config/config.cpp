// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include <hcasim/sim/config.hpp>
#include <hcasim/sim/input_error.hpp>
#include <hcasim/sim/nearest.hpp>

#include <algorithm>

#include "sim/config/builder.hpp"
#include "sim/config/presets.hpp"

namespace hcasim::sim {
namespace {

const Preset& find_preset(const std::string& name) {
  const auto found = std::ranges::find(presets(), name, &Preset::name);
  if (found != presets().end()) return *found;
  std::string expected = "the name of a preset (";
  for (const std::string& known : preset_names()) expected += known + ", ";
  expected.replace(expected.size() - 2, 2, ")");
  throw InputError("--preset", 0, 0, expected, name, nearest(name, preset_names()));
}

}  // namespace

SystemConfig load_config(const ConfigSources& sources) {
  ConfigBuilder builder;
  const Preset& preset = find_preset(sources.preset);
  builder.add(read_toml(preset.toml, "preset " + sources.preset));
  if (!sources.file.empty()) builder.add(read_toml_file(sources.file));
  for (const std::string& setting : sources.settings) builder.add({read_setting(setting)});
  return builder.finish();
}

SystemConfig parse_config(std::string_view text, const std::string& name) {
  ConfigBuilder builder;
  builder.add(read_toml(text, name));
  return builder.finish();
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const Preset& preset : presets()) names.emplace_back(preset.name);
  return names;
}

}  // namespace hcasim::sim
