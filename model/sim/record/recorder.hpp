// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>

#include "hcasim/hw/time.hpp"
#include "hcasim/sim/input_error.hpp"
#include "hcasim/sim/run_statistics.hpp"
#include "sim/output/output_set.hpp"
#include "sim/record/node_recorder.hpp"

/// Records what becomes of every message of a run.
namespace hcasim::sim {

struct RecorderOptions {
  std::string completions_csv;  ///< "": none
  /// How far nodes may be apart in time when they report; at least the time by which the engines
  /// run ahead. It bounds the memory for putting rows of the CSV in order.
  hw::Time reorder_window = hw::kMillisecond;
  /// A message of UC or UD that its receiver has not polled this long after its sender was done is
  /// lost. It bounds the memory for such messages.
  hw::Time time_to_arrive = 10 * hw::kMillisecond;
  OutputSet* outputs = nullptr;  ///< gives the CSV its name; null: close() does
};

/// The records of all nodes of a system. Nothing is recorded before set_epoch().
class Recorder {
 public:
  /// @throws OutputError when the CSV cannot be made
  explicit Recorder(const RecorderOptions& options);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// The reference stays valid for the life of the recorder. Rows and results name nodes in the
  /// order in which they were added.
  NodeRecorder& add_node(const std::string& name);

  /// t = 0 of all results. WQEs posted before `from` are counted for their QP, receives posted
  /// before it are in the queue, but no message posted before it is recorded. To be called once, in
  /// the simulated time that it names or earlier.
  /// @param from when recording begins; 0: at the epoch
  void set_epoch(hw::Time epoch, hw::Time from = 0);

  /// Ends occupancy integrals and all open records, and finishes the CSV. A message that the peer
  /// has acknowledged by then has succeeded, others are unfinished.
  /// @throws OutputError when the CSV cannot be written; statistics() is right even then
  void close(hw::Time end);

  /// When the last of the sends that nobody has learned the end of was acknowledged: 0 when there
  /// are none, hw::kNever when one is not acknowledged yet.
  hw::Time last_acknowledgement();

  /// Records of messages ever made, which are used again.
  std::size_t capacity() const { return store_.capacity(); }

  /// A full disk ended the CSV: close() will throw. A long run may look now and then.
  bool output_failed() const;

  /// Everything countable; counters, utilisation, seed and `partial` are the caller's to fill in.
  /// Complete after close().
  RunStatistics statistics() const;

 private:
  RecordStore store_;
  std::deque<NodeRecorder> nodes_;
  hw::Time epoch_ = 0;
  hw::Time end_ = 0;
};

}  // namespace hcasim::sim
