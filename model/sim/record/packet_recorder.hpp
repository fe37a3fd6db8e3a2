// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <vector>

#include "fabric/capture_file.hpp"
#include "fabric/link.hpp"
#include "hcasim/hw/time.hpp"
#include "hcasim/sim/input_error.hpp"

namespace hcasim::sim {

/// Writes the packets of a run to a pcap file: RoCEv2 frames with right ICRC, in order of time,
/// stamped in nanoseconds since the epoch. A packet's time is that of its first bit. Nothing is
/// recorded before set_epoch().
class PacketRecorder {
 public:
  /// Enough for nodes that run ahead of each other.
  static constexpr hw::Time kReorderWindow = 100 * hw::kMicrosecond;

  /// @param reorder_window how far ports may be apart in time when they report
  /// @param outputs gives the file its name; null: close() does
  /// @throws OutputError when the file cannot be made
  explicit PacketRecorder(const std::filesystem::path& file,
                          hw::Time reorder_window = kReorderWindow, OutputSet* outputs = nullptr);
  ~PacketRecorder();
  PacketRecorder(const PacketRecorder&) = delete;
  PacketRecorder& operator=(const PacketRecorder&) = delete;

  /// The observer for one more port, valid for the life of the recorder. Packets of the same time
  /// are written in the order in which their ports were added.
  fabric::PacketObserver& add_port();

  /// t = 0 of the stamps; earlier packets are left out.
  void set_epoch(hw::Time epoch) { epoch_ = epoch; }

  /// All ports have reported whatever starts before `time`: it may be written. Not needed for
  /// order, only to write sooner than the window asks.
  void flush_until(hw::Time time);

  /// The disk was full: nothing more is recorded, and close() will throw.
  bool failed() const { return error_ != nullptr; }

  /// Writes what is left and gives the file its name. @throws OutputError
  void close();

  /// Packets recorded so far.
  std::uint64_t packets() const { return packets_; }

 private:
  struct Port : fabric::PacketObserver {
    Port(PacketRecorder& to, std::uint32_t number) : recorder(to), order(number) {}
    void on_sent(const fabric::Packet& packet, hw::Time start) override {
      recorder.record(packet, start, order);
    }
    PacketRecorder& recorder;
    std::uint32_t order;
  };
  struct Entry {
    hw::Time time;       // since the epoch
    std::size_t offset;  // into frames_
    std::uint32_t bytes;
    std::uint32_t port;
  };

  void record(const fabric::Packet& packet, hw::Time start, std::uint32_t port);
  void write_before(hw::Time limit);
  void keep_from(std::size_t first);

  hw::Time window_;
  hw::Time epoch_ = hw::kNever;
  hw::Time newest_ = 0;
  std::size_t enough_;  // bytes waiting that are worth a look
  std::uint64_t packets_ = 0;
  fabric::CaptureWriter writer_;
  std::unique_ptr<OutputError> error_;
  std::deque<Port> ports_;
  std::vector<Entry> entries_;
  std::vector<std::uint8_t> frames_;
  std::vector<Entry> kept_entries_;
  std::vector<std::uint8_t> kept_frames_;
};

}  // namespace hcasim::sim
