// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/record/packet_recorder.hpp"

#include <algorithm>
#include <tuple>

#include "fabric/codec.hpp"
#include "hcasim/sim/input_error.hpp"

namespace hcasim::sim {

namespace {

constexpr std::size_t kEnoughBytes = std::size_t{1} << 20;

}  // namespace

PacketRecorder::PacketRecorder(const std::filesystem::path& file, hw::Time reorder_window,
                               OutputSet* outputs)
    : window_(reorder_window), enough_(kEnoughBytes), writer_(file, outputs) {}

PacketRecorder::~PacketRecorder() = default;

fabric::PacketObserver& PacketRecorder::add_port() {
  return ports_.emplace_back(*this, static_cast<std::uint32_t>(ports_.size()));
}

void PacketRecorder::record(const fabric::Packet& packet, hw::Time start, std::uint32_t port) {
  if (start < epoch_ || error_ != nullptr) return;
  ++packets_;
  const std::size_t offset = frames_.size();
  const std::size_t bytes = packet.frame_bytes();
  frames_.resize(offset + bytes);
  fabric::encode_frame(packet, {frames_.data() + offset, bytes});
  entries_.push_back({start - epoch_, offset, static_cast<std::uint32_t>(bytes), port});
  newest_ = std::max(newest_, start - epoch_);
  if (frames_.size() >= enough_) write_before(newest_ - window_);
}

void PacketRecorder::write_before(hw::Time limit) {
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.time, a.port, a.offset) < std::tie(b.time, b.port, b.offset);
  });
  std::size_t done = 0;
  try {
    for (; done < entries_.size() && entries_[done].time < limit; ++done) {
      const Entry& entry = entries_[done];
      writer_.write(entry.time, {frames_.data() + entry.offset, entry.bytes});
    }
  } catch (const OutputError& error) {
    // A recorder is called from the midst of the simulation: the caller learns of it in close().
    error_ = std::make_unique<OutputError>(error);
    done = entries_.size();
  }
  keep_from(done);
}

void PacketRecorder::keep_from(std::size_t first) {
  kept_entries_.clear();
  kept_frames_.clear();
  for (std::size_t i = first; i < entries_.size(); ++i) {
    Entry entry = entries_[i];
    const std::uint8_t* const frame = frames_.data() + entry.offset;
    entry.offset = kept_frames_.size();
    kept_frames_.insert(kept_frames_.end(), frame, frame + entry.bytes);
    kept_entries_.push_back(entry);
  }
  entries_.swap(kept_entries_);
  frames_.swap(kept_frames_);
  enough_ = std::max(kEnoughBytes, 2 * frames_.size());
}

void PacketRecorder::flush_until(hw::Time time) {
  if (epoch_ != hw::kNever && error_ == nullptr) write_before(time - epoch_);
}

void PacketRecorder::close() {
  if (error_ == nullptr) write_before(hw::kNever);
  if (error_ != nullptr) throw OutputError(*error_);
  writer_.close();
}

}  // namespace hcasim::sim
