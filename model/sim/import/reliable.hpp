// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/import/message.hpp"

namespace hcasim::sim {

/// Finds the messages of RC that the sender of `requests` began, and adds them to `analysis`.
/// @param answers the flow with the responses; null when it is not in the capture
void analyse_reliable(const Flow& requests, const Flow* answers, const Ends& ends,
                      CaptureAnalysis& analysis);

}  // namespace hcasim::sim
