// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string_view>

#include "fabric/capture_file.hpp"

namespace hcasim::fabric {

namespace {

/// Head of a pcap file, as https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-04.html has it.
struct FileHead {
  std::uint32_t magic = 0xa1b2'3c4d;  // stamps in nanoseconds
  std::uint16_t major_version = 2;
  std::uint16_t minor_version = 4;
  std::uint32_t reserved[2] = {};
  std::uint32_t snap_bytes = 262'144;  // what other tools write for "whole packets"
  std::uint32_t link_type = static_cast<std::uint32_t>(LinkType::kEthernet);
};
static_assert(sizeof(FileHead) == 24);

struct RecordHead {
  std::uint32_t seconds;
  std::uint32_t nanoseconds;
  std::uint32_t captured_bytes;
  std::uint32_t original_bytes;
};
static_assert(sizeof(RecordHead) == 16);

template <typename T>
std::string_view bytes_of(const T& head) {
  return {reinterpret_cast<const char*>(&head), sizeof head};
}

}  // namespace

CaptureWriter::CaptureWriter(const std::filesystem::path& file, sim::OutputSet* set)
    : file_(file, set) {
  file_.write(bytes_of(FileHead{}));
}

void CaptureWriter::write(hw::Time time, std::span<const std::uint8_t> frame) {
  const auto bytes = static_cast<std::uint32_t>(frame.size());
  const RecordHead head{static_cast<std::uint32_t>(time / hw::kSecond),
                        static_cast<std::uint32_t>(time % hw::kSecond / hw::kNanosecond), bytes,
                        bytes};
  file_.buffer() += bytes_of(head);
  file_.write({reinterpret_cast<const char*>(frame.data()), frame.size()});
}

}  // namespace hcasim::fabric
