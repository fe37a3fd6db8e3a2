// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include "hca/receive_queue_rtl/recording_receive_queue.hpp"
#include "sim/output/output_set.hpp"

namespace hcasim::sim {

/// Where the traffic of one node is recorded: `NAME.stimulus` becomes `NAME-NODE.stimulus`.
std::filesystem::path recording_of_node(const std::filesystem::path& file, const std::string& node);

/// The recorded traffic of one unit, kept until it is written: only then it is known how many
/// queues a unit needs that is to replay it.
class ReceiveQueueRecording final : public hca::RecordingReceiveQueue::Sink {
 public:
  ReceiveQueueRecording(std::filesystem::path file, const hw::rq::Parameters& parameters)
      : file_(std::move(file)), parameters_(parameters) {}

  void line(const std::string& text) override { text_ += text + '\n'; }
  void queue(std::uint32_t number) override { queues_ = std::max(queues_, number + 1); }

  /// @param outputs gives the file its name; null: at once
  /// @throws OutputError
  void write(OutputSet* outputs) const;

 private:
  std::filesystem::path file_;
  hw::rq::Parameters parameters_;
  std::uint32_t queues_ = 1;
  std::string text_;
};

}  // namespace hcasim::sim
