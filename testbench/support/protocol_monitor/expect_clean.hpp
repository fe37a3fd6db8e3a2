// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include "support/protocol_monitor/protocol_monitor.hpp"

namespace hcasim::monitor {

/// Fails the test with all that the monitor found, and forgets it.
inline void expect_clean(ProtocolMonitor& monitor) {
  EXPECT_TRUE(monitor.violations().empty()) << monitor.violations().text();
  monitor.violations().clear();
}

}  // namespace hcasim::monitor
