// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/ftrace/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "hcasim/rvt/rdma_vt.hpp"

namespace hcasim::sim::ftrace {
namespace {

constexpr std::size_t kEnoughBytes = std::size_t{1} << 20;

}  // namespace

class Recorder::Node : public DriverEvents {
 public:
  Node(Recorder& to, std::string name, rvt::rvt_dev_info& device, std::uint32_t index)
      : DriverEvents(device, index), recorder_(to), name_(std::move(name)), index_(index) {}

 private:
  void emit(hw::Time at, const Event& event) override {
    recorder_.record(index_, at, {name_, kFirstPid + index_, index_}, event);
  }

  Recorder& recorder_;
  std::string name_;
  std::uint32_t index_;
};

Recorder::Recorder(const std::filesystem::path& file, hw::Time reorder_window, OutputSet* outputs)
    : window_(reorder_window), enough_(kEnoughBytes), file_(file, outputs) {
  file_.write(file_header());
}

Recorder::~Recorder() = default;

hca::TimerObserver& Recorder::add_node(const std::string& name, rvt::rvt_dev_info& device) {
  const auto index = static_cast<std::uint32_t>(nodes_.size());
  Node& node = *nodes_.emplace_back(std::make_unique<Node>(*this, name, device, index));
  device.trace = &node;
  return node;
}

void Recorder::record(std::uint32_t node, hw::Time at, const Context& context, const Event& event) {
  if (closed_ || error_ != nullptr) return;
  const std::size_t offset = text_.size();
  append_line(text_, context, at, event);
  entries_.push_back({at, offset, static_cast<std::uint32_t>(text_.size() - offset), node});
  newest_ = std::max(newest_, at);
  if (text_.size() >= enough_) write_before(newest_ - window_);
}

void Recorder::write_before(hw::Time limit) {
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.time, a.node, a.offset) < std::tie(b.time, b.node, b.offset);
  });
  std::size_t done = 0;
  for (; done < entries_.size() && entries_[done].time < limit; ++done) {
    write(std::string_view(text_).substr(entries_[done].offset, entries_[done].bytes));
  }
  keep_from(done);
}

// A recorder is called from the midst of the simulation: the caller learns of an error in close().
void Recorder::write(std::string_view line) {
  if (error_ != nullptr) return;
  try {
    file_.write(line);
  } catch (const OutputError& error) {
    error_ = std::make_unique<OutputError>(error);
  }
}

void Recorder::keep_from(std::size_t first) {
  kept_entries_.clear();
  kept_text_.clear();
  for (std::size_t i = first; i < entries_.size(); ++i) {
    Entry entry = entries_[i];
    const std::size_t offset = kept_text_.size();
    kept_text_.append(text_, entry.offset, entry.bytes);
    entry.offset = offset;
    kept_entries_.push_back(entry);
  }
  entries_.swap(kept_entries_);
  text_.swap(kept_text_);
  enough_ = std::max(kEnoughBytes, 2 * text_.size());
}

void Recorder::set_epoch(hw::Time epoch) {
  write_before(epoch);
  write(fmt::format("# the epoch of the results is at {}.{:06}\n", epoch / hw::kSecond,
                    epoch % hw::kSecond / hw::kMicrosecond));
}

void Recorder::close() {
  for (const auto& node : nodes_) node->device().trace = nullptr;
  closed_ = true;
  write_before(hw::kNever);
  if (error_ != nullptr) throw OutputError(*error_);
  file_.commit();
}

}  // namespace hcasim::sim::ftrace
