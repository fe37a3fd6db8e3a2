// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace hcasim::sim {

/// Sends what SystemC reports to the program's log on stderr, since stdout carries results only.
void route_kernel_reports();

}  // namespace hcasim::sim
