// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "fabric/capture_file.hpp"
#include "fabric/packet.hpp"

/// Several captures of the same traffic, such as one from each end of a cable, read as one.
namespace hcasim::sim {

/// A record and which of the captures it is from.
struct MergedFrame {
  fabric::CapturedFrame frame;  ///< numbered and timed over all captures
  std::size_t capture = 0;
  fabric::LinkType link_type{};
};

/// The records of captures in the order of their stamps; those of one capture keep their order. The
/// clock of the first capture is right: the others are set by the packets that they share with it.
class CaptureMerge {
 public:
  /// @throws fabric::CaptureError when a file cannot be read or its link layer is not known
  explicit CaptureMerge(std::span<const std::filesystem::path> files);

  /// Reads the next record; what the one before held is gone.
  /// @return false at the end of all captures
  /// @throws fabric::CaptureError also when captures begin more than 100 days apart
  bool next(MergedFrame& merged);

  std::uint64_t frames() const { return frames_; }
  /// Stamp of the earliest first record, in seconds and nanoseconds since 1970.
  std::int64_t start_seconds() const { return start_seconds_; }
  std::int64_t start_nanoseconds() const { return start_nanoseconds_; }

 private:
  struct Source {
    explicit Source(const std::filesystem::path& from) : file(from), reader(from) {}

    std::filesystem::path file;
    fabric::CaptureReader reader;
    fabric::CapturedFrame frame;
    bool open = true;     ///< `frame` is its next record
    hw::Time offset = 0;  ///< from its time to that of all
  };

  void find_start();
  void advance(Source& source) { source.open = source.reader.next(source.frame); }

  std::deque<Source> sources_;
  Source* taken_ = nullptr;  ///< whose record was given out
  std::uint64_t frames_ = 0;
  std::int64_t start_seconds_ = 0;
  std::int64_t start_nanoseconds_ = 0;
};

/// Tells the second sight of a packet that two captures show. A packet that was sent again is no
/// second sight: each capture may show one packet once, within a window of time.
class TwinFilter {
 public:
  TwinFilter(std::size_t captures, hw::Time window) : captures_(captures), window_(window) {}

  /// @return true when another capture has shown this packet before
  bool seen_before(const fabric::Packet& packet, std::size_t capture, hw::Time time);

 private:
  struct Key {
    std::uint32_t dest_qp = 0;
    std::uint32_t psn = 0;

    friend bool operator<(const Key& a, const Key& b) {
      return std::tie(a.dest_qp, a.psn) < std::tie(b.dest_qp, b.psn);
    }
  };
  struct Sight {
    fabric::PacketHeaders headers;  ///< of what no switch or router changes
    std::size_t payload = 0;
    std::vector<bool> captures;  ///< that have shown it
  };

  void forget_before(hw::Time time);

  std::size_t captures_;
  hw::Time window_;
  std::map<Key, std::deque<Sight>> sights_;        // of the latest window, the earliest first
  std::deque<std::pair<hw::Time, Key>> in_order_;  // the same
};

}  // namespace hcasim::sim
