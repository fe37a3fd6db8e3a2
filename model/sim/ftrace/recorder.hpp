// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "hcasim/sim/input_error.hpp"
#include "sim/ftrace/driver_events.hpp"
#include "sim/ftrace/format.hpp"
#include "sim/output/output_file.hpp"

namespace hcasim::sim::ftrace {

/// Process id of the first node's task; the others follow.
inline constexpr std::uint32_t kFirstPid = 1;

/// Writes the tracepoints of a run as the kernel's text file has them, in order of time. A line's
/// task is the node, its CPU the node's index and its time that of the simulation, which begins
/// before the epoch of the results; a comment line stands where that is.
class Recorder {
 public:
  /// Enough for nodes that run ahead of each other.
  static constexpr hw::Time kReorderWindow = 100 * hw::kMicrosecond;

  /// @param reorder_window how far nodes may be apart in time when they report
  /// @param outputs gives the file its name; null: close() does
  /// @throws OutputError when the file cannot be made
  explicit Recorder(const std::filesystem::path& file, hw::Time reorder_window = kReorderWindow,
                    OutputSet* outputs = nullptr);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Takes the tracepoints of one more device up to close(). Events of the same time are written in
  /// the order in which their nodes were added.
  /// @return who is to be told of its adapter's timers
  hca::TimerObserver& add_node(const std::string& name, rvt::rvt_dev_info& device);

  /// t = 0 of the results. All nodes have reported what was before.
  void set_epoch(hw::Time epoch);

  /// The disk was full: nothing more is recorded, and close() will throw.
  bool failed() const { return error_ != nullptr; }

  /// Writes what is left and gives the file its name. @throws OutputError
  void close();

 private:
  class Node;
  struct Entry {
    hw::Time time;
    std::size_t offset;  // into text_
    std::uint32_t bytes;
    std::uint32_t node;
  };

  void record(std::uint32_t node, hw::Time at, const Context& context, const Event& event);
  void write_before(hw::Time limit);
  void write(std::string_view line);
  void keep_from(std::size_t first);

  hw::Time window_;
  hw::Time newest_ = 0;
  std::size_t enough_;  // bytes waiting that are worth a look
  OutputFile file_;
  bool closed_ = false;
  std::unique_ptr<OutputError> error_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<Entry> entries_;
  std::string text_;
  std::vector<Entry> kept_entries_;
  std::string kept_text_;
};

}  // namespace hcasim::sim::ftrace
