// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/import/capture_analysis.hpp"
#include "sim/import/flow.hpp"

namespace hcasim::sim {

/// Finds the messages of a UC flow and adds them to `analysis`.
/// @param back the other direction; null when it is not in the capture
void analyse_unreliable(const Flow& flow, const Flow* back, CaptureAnalysis& analysis);

/// Finds the messages of a UD flow and adds them to `analysis`.
void analyse_datagrams(const Flow& flow, CaptureAnalysis& analysis);

}  // namespace hcasim::sim
