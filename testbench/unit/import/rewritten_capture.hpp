// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fabric/capture_file.hpp"
#include "fabric/icrc.hpp"
#include "hcasim/hw/wire/ip.hpp"

/// An Ethernet capture of IPv4 packets written again with other headers in front, in other formats.
namespace hcasim::sim::rewritten {

using Bytes = std::vector<std::uint8_t>;

struct Frame {
  hw::Time time = 0;  ///< since the first
  Bytes bytes;
};

inline std::vector<Frame> frames_of(const std::filesystem::path& file) {
  std::vector<Frame> frames;
  fabric::CaptureReader reader(file);
  for (fabric::CapturedFrame frame; reader.next(frame);) {
    frames.push_back({frame.time, Bytes(frame.bytes.begin(), frame.bytes.end())});
  }
  return frames;
}

/// How a file is written.
struct Format {
  int link_type = 1;
  bool big_endian = false;
  bool nanoseconds = false;
  std::size_t snap_length = 65535;
};

class PcapFile {
 public:
  PcapFile(const std::filesystem::path& file, const Format& format)
      : out_(file, std::ios::binary), format_(format) {
    put(format.nanoseconds ? 0xa1b23c4d : 0xa1b2c3d4);
    put(2, 2);
    put(4, 2);
    put(0);
    put(0);
    put(static_cast<std::uint32_t>(format.snap_length));
    put(static_cast<std::uint32_t>(format.link_type));
  }
  void write(const Frame& frame) {
    const hw::Time unit = format_.nanoseconds ? hw::kNanosecond : hw::kMicrosecond;
    const std::size_t kept = std::min(frame.bytes.size(), format_.snap_length);
    put(static_cast<std::uint32_t>(1'700'000'000 + frame.time / hw::kSecond));
    put(static_cast<std::uint32_t>(frame.time % hw::kSecond / unit));
    put(static_cast<std::uint32_t>(kept));
    put(static_cast<std::uint32_t>(frame.bytes.size()));
    out_.write(reinterpret_cast<const char*>(frame.bytes.data()),
               static_cast<std::streamsize>(kept));
  }

 private:
  void put(std::uint32_t value, int bytes = 4) {
    for (int i = 0; i < bytes; ++i) {
      const int shift = 8 * (format_.big_endian ? bytes - 1 - i : i);
      out_.put(static_cast<char>(value >> shift));
    }
  }

  std::ofstream out_;
  Format format_;
};

inline constexpr std::size_t kEthernetBytes = 14;

/// `header`, then the frame from its byte `from` on.
inline Bytes behind(Bytes header, const Bytes& frame, std::size_t from = kEthernetBytes) {
  header.insert(header.end(), frame.begin() + static_cast<std::ptrdiff_t>(from), frame.end());
  return header;
}

inline Bytes ethernet(const Bytes& frame) {
  return frame;
}

inline Bytes with_vlan(const Bytes& frame) {
  Bytes bytes = frame;
  const Bytes tag{0x81, 0x00, 0x60, 0x05};
  bytes.insert(bytes.begin() + 12, tag.begin(), tag.end());
  return bytes;
}

/// Linux cooked, version 1: the EtherType is at its end.
inline Bytes linux_cooked(const Bytes& frame) {
  return behind({0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, frame[12], frame[13]}, frame);
}

/// Version 2: the EtherType is in front.
inline Bytes linux_cooked2(const Bytes& frame) {
  return behind({frame[12], frame[13], 0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0},
                frame);
}

/// An ERF record of native InfiniBand: LRH, GRH, what follows the UDP header, ICRC and VCRC.
inline Bytes erf_infiniband(const Bytes& frame) {
  constexpr std::size_t kErfBytes = 16;
  const std::size_t ip = kEthernetBytes;
  const std::size_t udp = ip + hw::Ipv4::kBytes;
  const std::size_t transport = udp + hw::Udp::kBytes;
  const std::size_t udp_bytes = std::size_t{256} * frame[udp + 4] + frame[udp + 5];
  const std::size_t end = udp + udp_bytes;  // of the ICRC
  const std::size_t words = (hw::Lrh::kBytes + hw::Grh::kBytes + end - transport) / 4;

  Bytes bytes(kErfBytes);
  bytes[8] = 21;  // InfiniBand
  const auto u8 = [](std::size_t value) { return static_cast<std::uint8_t>(value); };
  bytes.insert(bytes.end(),
               {0, 3, 0, frame[ip + 19], u8(words >> 8), u8(words), 0, frame[ip + 15]});
  Bytes grh{0x60, 0, 0, 0, u8((end - transport) >> 8), u8(end - transport), 27, 64};
  for (const std::size_t address : {ip + 12, ip + 16}) {
    grh.insert(grh.end(), 10, 0);
    grh.insert(grh.end(), 2, 0xff);
    for (std::size_t i = 0; i < 4; ++i) grh.push_back(frame[address + i]);
  }
  bytes.insert(bytes.end(), grh.begin(), grh.end());
  bytes.insert(bytes.end(), frame.begin() + static_cast<std::ptrdiff_t>(transport),
               frame.begin() + static_cast<std::ptrdiff_t>(end));
  const std::size_t icrc = bytes.size() - 4;
  const auto covered = std::span(bytes).first(icrc).subspan(kErfBytes);
  hw::store_le(&bytes[icrc], fabric::infiniband_icrc(covered, true));
  bytes.insert(bytes.end(), {0, 0});  // VCRC
  bytes[10] = u8(bytes.size() >> 8);
  bytes[11] = u8(bytes.size());
  return bytes;
}

}  // namespace hcasim::sim::rewritten
