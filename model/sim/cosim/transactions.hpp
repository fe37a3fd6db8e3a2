// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "sim/cosim/bench.hpp"

namespace hcasim::sim::cosim {

/// The last handshakes of one queue, or of all, as text.
class TransactionLog final : public CycleWatcher {
 public:
  /// @param queue none: of all queues
  TransactionLog(std::optional<std::uint32_t> queue, std::size_t most)
      : queue_(queue), most_(most) {}

  void cycle(hca::Cycle n, const hw::rq::Inputs& in, const hw::rq::Outputs& now,
             const hca::ReceiveQueueUnit& unit, const Scoreboard& scoreboard) override;

  /// One line each, the oldest first.
  const std::deque<std::string>& lines() const { return lines_; }

 private:
  void inputs(const hw::rq::Inputs& in, const hw::rq::Outputs& now);
  void outputs(const hw::rq::Inputs& in, const hw::rq::Outputs& now);
  void note(std::uint32_t queue, const char* port, const std::string& text);

  std::optional<std::uint32_t> queue_;
  std::size_t most_;
  hca::Cycle cycle_ = 0;
  std::deque<std::string> lines_;
  std::unordered_map<std::uint32_t, std::uint32_t> queue_of_take_;
  std::map<unsigned, std::uint32_t> queue_of_tag_;
  std::deque<std::uint32_t> queue_of_command_;
};

}  // namespace hcasim::sim::cosim
