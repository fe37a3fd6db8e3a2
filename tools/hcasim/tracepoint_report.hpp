// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/import/trace_from_tracepoints.hpp"
#include "sim/import/tracepoints.hpp"

namespace hcasim::tools {

/// What an import of tracepoints found, as JSON.
std::string tracepoint_json(const sim::TracepointAnalysis& analysis,
                            const sim::TracepointImport& import);
/// The same for people, without the line on the trace.
std::string tracepoint_summary(const sim::TracepointAnalysis& analysis,
                               const sim::TracepointImport& import);

}  // namespace hcasim::tools
