// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/record/completions_csv.hpp"

#include <algorithm>
#include <tuple>

#include "sim/record/text.hpp"

namespace hcasim::sim {

namespace {

void append_stamps(std::string& text, const MessageRecord& record, hw::Time epoch) {
  for (unsigned i = 0; i < hca::kStamps; ++i) {
    text += ',';
    const auto stamp = static_cast<hca::Stamp>(i);
    if (record.has(stamp)) append_ns(text, record.at(stamp) - epoch);
  }
}

void append_number(std::string& text, std::uint64_t number) {
  append_decimal(text, static_cast<std::int64_t>(number), Decimals::kNone);
}

// Names come from traces and cannot hold quotes; commas and spaces cost nothing to allow.
void append_name(std::string& text, std::string_view name) {
  const bool plain = name.find_first_of(",\"\r\n") == std::string_view::npos;
  if (plain) {
    text += name;
    return;
  }
  text += '"';
  for (const char c : name) text.append(c == '"' ? 2 : 1, c);
  text += '"';
}

}  // namespace

CompletionsCsv::CompletionsCsv(const std::filesystem::path& path, hw::Time window, OutputSet* set)
    : file_(path, set), window_(window) {
  std::string header = "node,qp,wqe,opcode,bytes,status";
  for (unsigned i = 0; i < hca::kStamps; ++i) {
    header.append(",").append(name_of(static_cast<hca::Stamp>(i))).append("_ns");
  }
  file_.write(header + '\n');
  keys_.reserve(kEnough);
  rows_.reserve(kEnough);
  kept_.reserve(kEnough);
}

void CompletionsCsv::write_before(hw::Time limit) {
  std::sort(keys_.begin(), keys_.end(), [](const Key& a, const Key& b) {
    return std::tie(a.at, a.node, a.order) < std::tie(b.at, b.node, b.order);
  });
  std::size_t done = keys_.size();
  try {
    done = write_rows(limit);
  } catch (const OutputError& error) {
    // Records close in the midst of the simulation: the caller learns of it in close().
    error_ = std::make_unique<OutputError>(error);
  }
  keep_from(done);
}

std::size_t CompletionsCsv::write_rows(hw::Time limit) {
  std::size_t done = 0;
  const bool all = limit == hw::kNever;
  for (; done < keys_.size() && (all || keys_[done].at < limit); ++done) {
    write(rows_[keys_[done].row]);
  }
  return done;
}

void CompletionsCsv::keep_from(std::size_t first) {
  keys_.erase(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(first));
  kept_.clear();
  for (Key& key : keys_) {
    kept_.push_back(rows_[key.row]);
    key.row = static_cast<std::uint32_t>(kept_.size() - 1);
  }
  rows_.swap(kept_);
  enough_ = std::max(kEnough, 2 * rows_.size());
}

void CompletionsCsv::write(const MessageRecord& record) {
  std::string& text = file_.buffer();
  append_name(text, nodes_[record.node]);
  text += ',';
  append_name(text, *record.qp);
  text += ',';
  append_number(text, record.wqe);
  text += ',';
  text += name_of(record.opcode);
  text += ',';
  append_number(text, record.bytes);
  text += ',';
  text += record.finished ? name_of(record.status) : "UNFINISHED";
  append_stamps(text, record, epoch_);
  text += '\n';
  file_.flush_if_full();
}

void CompletionsCsv::close() {
  if (!failed()) write_before(hw::kNever);
  if (failed()) throw OutputError(*error_);
  file_.commit();
}

}  // namespace hcasim::sim
