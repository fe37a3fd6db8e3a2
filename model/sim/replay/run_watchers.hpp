// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <deque>
#include <memory>

#include "hcasim/sim/run.hpp"
#include "sim/ftrace/recorder.hpp"
#include "sim/record/packet_recorder.hpp"
#include "sim/replay/observed_node.hpp"
#include "sim/system/system.hpp"

namespace hcasim::sim {

/// Who watches a run beside its statistics: the capture and the tracepoints that were asked for,
/// and the observer of the caller. Outlives the devices that report to it.
class RunWatchers {
 public:
  /// @throws OutputError when a file cannot be made
  explicit RunWatchers(const RunOptions& options);

  /// Watches the node with this index from now on.
  void watch(NodeSystem& node, std::size_t index);
  /// t = 0 of the results. All nodes have reported what was before.
  void set_epoch(hw::Time epoch);
  /// An output has failed: nothing more is written to it, and close() will throw.
  bool failed() const;
  /// @throws OutputError
  void close();
  /// Watches the node no longer.
  static void leave(NodeSystem& node);

 private:
  void watch_ports(hca::AdapterModule& adapter, std::size_t index);

  RunObserver* observer_;
  std::unique_ptr<PacketRecorder> packets_;
  std::unique_ptr<ftrace::Recorder> tracepoints_;
  std::deque<ObservedNode> observed_;
};

}  // namespace hcasim::sim
