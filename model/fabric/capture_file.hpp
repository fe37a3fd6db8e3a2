// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "hcasim/hw/time.hpp"
#include "sim/output/output_file.hpp"

/// Capture files: reading through libpcap (pcap and pcapng, every byte order and stamp precision),
/// writing pcap.
namespace hcasim::fabric {

/// A capture file that cannot be read; the text names the file and the reason.
class CaptureError : public std::runtime_error {
 public:
  CaptureError(const std::filesystem::path& file, const std::string& reason)
      : std::runtime_error(file.string() + ": " + reason) {}
};

/// Link-layer types of captures that the project knows, by their number in the file.
enum class LinkType : int {
  kEthernet = 1,
  kLinuxCooked = 113,
  kErf = 197,
  kLinuxCooked2 = 276,
};

/// One record of a capture.
struct CapturedFrame {
  std::uint64_t number = 0;             ///< from 1, in the order of the file
  hw::Time time = 0;                    ///< since the first record; may step back
  std::size_t original_bytes = 0;       ///< length on the wire
  std::span<const std::uint8_t> bytes;  ///< what was kept of it; valid until the next read
};

/// Reads a capture from its beginning to its end.
class CaptureReader {
 public:
  /// @throws CaptureError when the file cannot be opened, is empty or is no capture
  explicit CaptureReader(const std::filesystem::path& file);
  ~CaptureReader();
  CaptureReader(const CaptureReader&) = delete;
  CaptureReader& operator=(const CaptureReader&) = delete;

  /// Reads the next record.
  /// @return false at the end of the file
  /// @throws CaptureError when the file ends within a record or a record is malformed
  bool next(CapturedFrame& frame);

  LinkType link_type() const;
  /// Its name and meaning in words, such as `RAW (Raw IP)`.
  std::string link_type_text() const;

  /// Stamp of the first record in seconds and nanoseconds since 1970; 0 before the first next().
  std::int64_t start_seconds() const { return start_seconds_; }
  std::int64_t start_nanoseconds() const { return start_nanoseconds_; }

 private:
  struct Handle;

  hw::Time since_start(std::int64_t seconds, std::int64_t nanoseconds);

  std::filesystem::path file_;
  std::unique_ptr<Handle> handle_;
  std::uint64_t count_ = 0;
  std::int64_t start_seconds_ = 0;
  std::int64_t start_nanoseconds_ = 0;
};

/// Writes Ethernet frames without FCS to a pcap file with stamps in nanoseconds, in the byte order
/// of the machine. Without a successful close() no file is left.
class CaptureWriter {
 public:
  /// @param set gives the file its name, together with others; null: close() does
  /// @throws sim::OutputError
  explicit CaptureWriter(const std::filesystem::path& file, sim::OutputSet* set = nullptr);

  /// Appends a frame. @param time not negative; cut to nanoseconds
  /// @throws sim::OutputError when the disk is full
  void write(hw::Time time, std::span<const std::uint8_t> frame);

  /// Ends the file and gives it its name. Nothing may be written after it.
  /// @throws sim::OutputError when the disk is full or the file cannot be renamed
  void close() { file_.commit(); }

 private:
  sim::OutputFile file_;
};

}  // namespace hcasim::fabric
