// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "sim/system/node_system.hpp"
#include "support/protocol_monitor/protocol_monitor.hpp"

namespace hcasim::support {

/// The observer, null for none, sees what the node sends and gets, and its queue pairs.
inline void observe(sim::NodeSystem& node, monitor::MonitoredPort* observer) {
  node.adapter().port().port().set_observer(observer, observer != nullptr);
  node.adapter().adapter().set_transport_observer(observer);
}

}  // namespace hcasim::support
