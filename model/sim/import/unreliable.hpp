// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/import/message.hpp"

namespace hcasim::sim {

/// Finds the messages of a UC flow and adds them to `analysis`.
void analyse_unreliable(const Flow& flow, const Ends& ends, CaptureAnalysis& analysis);

/// Finds the messages of a UD flow and adds them to `analysis`.
void analyse_datagrams(const Flow& flow, CaptureAnalysis& analysis);

}  // namespace hcasim::sim
