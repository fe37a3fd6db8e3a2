// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "hcasim/sim/trace.hpp"

namespace hcasim::sim {

/// How many posts a node has to each queue, by the name of the QP: how its program knows that there
/// is more to come for a queue.
class PostCounts {
 public:
  void add(NameId qp, bool is_send) {
    std::vector<std::uint64_t>& table = counts_[is_send ? 1 : 0];
    if (qp >= table.size()) table.resize(qp + 1, 0);
    ++table[qp];
  }
  std::uint64_t of(NameId qp, bool is_send) const {
    const std::vector<std::uint64_t>& table = counts_[is_send ? 1 : 0];
    return qp < table.size() ? table[qp] : 0;
  }

 private:
  std::array<std::vector<std::uint64_t>, 2> counts_;
};

/// A trace that was read once from end to end, so that a wrong line is reported before anything has
/// run, and what a run has to know of it beforehand.
class CheckedTrace {
 public:
  /// @param name what messages call the file
  /// @param interrupted ends the reading when it says so; null: never
  /// @throws InputError
  CheckedTrace(const std::string& path, const std::string& name, bool (*interrupted)());

  const std::vector<NameId>& nodes() const { return reader_.nodes(); }
  /// In the same order the nodes whose host they sit in.
  const std::vector<NameId>& hosts() const { return reader_.hosts(); }
  /// All names of the trace. Every reader of the file numbers them alike.
  const NameTable& names() const { return reader_.names(); }
  const PostCounts& posts(std::size_t node) const { return posts_[node]; }
  /// The largest local ACK timeout of a QP: the exponent of 4.096 us * 2^T.
  std::uint32_t longest_timeout() const { return longest_timeout_; }
  /// The longest pause that an RNR NAK of a QP asks for.
  hw::Time longest_rnr_pause() const { return longest_rnr_pause_; }

 private:
  void look_at(const Operation& operation);

  TraceReader reader_;
  std::vector<PostCounts> posts_;  // by node
  std::uint32_t longest_timeout_ = 0;
  hw::Time longest_rnr_pause_ = 0;
};

}  // namespace hcasim::sim
