// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/import/capture_analysis.hpp"

namespace hcasim::tools {

/// What an import found, as JSON with a line break at its end.
std::string import_json(const sim::CaptureAnalysis& analysis);

/// The same for people, a few lines.
std::string import_summary(const sim::CaptureAnalysis& analysis);

}  // namespace hcasim::tools
