// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hcasim/hw/time.hpp"
#include "hcasim/sim/input_error.hpp"
#include "sim/output/output_file.hpp"
#include "sim/record/record_store.hpp"

namespace hcasim::sim {

/// completions.csv: a row per message, in the order of the times at which their records closed,
/// then of nodes, then of posting. That order does not depend on how far nodes run ahead of each
/// other, as long as it is less than the window.
class CompletionsCsv {
 public:
  /// @param set gives the file its name; null: close() does
  /// @throws OutputError
  CompletionsCsv(const std::filesystem::path& path, hw::Time window, OutputSet* set = nullptr);

  void add_node(const std::string& name) { nodes_.push_back(name); }
  void set_epoch(hw::Time epoch) { epoch_ = epoch; }

  /// @param at when the record closed; hw::kNever: at the end of the run
  void add(const MessageRecord& record, hw::Time at) {
    if (failed()) return;
    if (at != hw::kNever && at > newest_) newest_ = at;
    keys_.push_back({at, record.order, record.node, static_cast<std::uint32_t>(rows_.size())});
    rows_.push_back(record);
    if (rows_.size() >= enough_) write_before(newest_ - window_);
  }

  /// The disk was full: nothing more is written, and close() will throw.
  bool failed() const { return error_ != nullptr; }

  /// Writes all that is left and gives the file its name. @throws OutputError
  void close();

 private:
  struct Key {
    hw::Time at;
    std::uint64_t order;
    std::uint16_t node;
    std::uint32_t row;  // in rows_
  };
  static constexpr std::size_t kEnough = 4096;

  void write_before(hw::Time limit);
  std::size_t write_rows(hw::Time limit);
  void keep_from(std::size_t first);
  void write(const MessageRecord& record);

  OutputFile file_;
  std::unique_ptr<OutputError> error_;
  hw::Time window_;
  hw::Time epoch_ = 0;
  hw::Time newest_ = 0;
  std::size_t enough_ = kEnough;  // rows that are worth sorting
  std::vector<std::string> nodes_;
  std::vector<Key> keys_;
  std::vector<MessageRecord> rows_;  // in the order of add()
  std::vector<MessageRecord> kept_;
};

}  // namespace hcasim::sim
