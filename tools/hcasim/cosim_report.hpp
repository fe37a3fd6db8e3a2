// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// What `hcasim cosim` says and leaves behind.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/cosim/cross_check.hpp"

namespace hcasim::tools {

/// One line on one profile.
std::string profile_line(const sim::cosim::Profile& profile, const sim::cosim::RunResult& result);

/// What is compared, by name.
std::string side_names(std::span<const sim::cosim::Side> sides);

/// The head of the table of profiles.
std::string profile_head(std::span<const sim::cosim::Side> sides);

/// Holes and the rarest points. @param file where all of them are; may be empty
std::string coverage_summary(const sim::cosim::Coverage& coverage, const std::string& file);

/// A file of `--out`.
struct NamedText {
  std::string name;
  std::string text;
};

/// Everything about a difference: what was found, what replays it, its waveform, and the same of
/// the shrunk stimulus, whose files begin with `shrunk`.
struct FailureReport {
  std::string text;  ///< for stdout
  std::vector<NamedText> files;
};
FailureReport report_failure(std::span<const sim::cosim::Side> sides,
                             const sim::cosim::FailingStimulus& failing, const std::string& origin);

}  // namespace hcasim::tools
