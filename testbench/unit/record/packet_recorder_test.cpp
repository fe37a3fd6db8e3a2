// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "fabric/capture_file.hpp"
#include "fabric/codec.hpp"
#include "folder.hpp"
#include "sim/record/packet_recorder.hpp"
#include "support/file_size_limit.hpp"
#include "support/independent_icrc.hpp"

namespace hcasim::sim::test {
namespace {

using hw::kNanosecond;
using hw::Time;

constexpr Time kEpoch = 5 * hw::kMicrosecond;

struct Read {
  Time time;  // since 1970, where the epoch lies
  std::vector<std::uint8_t> bytes;
};

std::vector<Read> read_all(const std::filesystem::path& file) {
  fabric::CaptureReader reader(file);
  fabric::CapturedFrame frame;
  std::vector<Read> result;
  while (reader.next(frame)) {
    const Time start = reader.start_seconds() * hw::kSecond + reader.start_nanoseconds() * 1000;
    result.push_back({start + frame.time, {frame.bytes.begin(), frame.bytes.end()}});
  }
  return result;
}

void make(fabric::Packet& packet, std::uint32_t psn, std::size_t bytes) {
  packet.clear();
  packet.opcode = hw::BthOpcode::kRcSendOnly;
  packet.psn = psn;
  packet.dest_qp = 42;
  packet.address.src_gid = hw::Gid{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};
  packet.address.dst_gid = hw::Gid{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 2};
  auto payload = packet.resize_payload(bytes);
  for (std::size_t i = 0; i < bytes; ++i) payload[i] = static_cast<std::uint8_t>(i * 7 + psn);
}

std::uint32_t psn_of(const Read& read) {
  fabric::Packet packet;
  const fabric::DecodeResult result = fabric::decode_frame(read.bytes, packet);
  EXPECT_TRUE(result.is_roce());
  EXPECT_EQ(result.icrc, fabric::IcrcStatus::kOk);
  return packet.psn;
}

TEST(PacketRecorder, WritesWholePacketsWithRightChecksums) {
  const Folder folder;
  PacketRecorder recorder(folder / "x.pcap");
  fabric::PacketObserver& port = recorder.add_port();
  recorder.set_epoch(kEpoch);
  fabric::Packet packet;
  const std::vector<std::size_t> sizes = {0, 1, 2, 3, 4, 64, 1000, 1024, 4096};
  for (std::uint32_t i = 0; i < sizes.size(); ++i) {
    make(packet, i, sizes[i]);
    port.on_sent(packet, kEpoch + i * kNanosecond + 999);
  }
  EXPECT_EQ(recorder.packets(), sizes.size());
  recorder.close();
  const auto read = read_all(folder / "x.pcap");
  ASSERT_EQ(read.size(), sizes.size());
  for (std::uint32_t i = 0; i < sizes.size(); ++i) {
    EXPECT_TRUE(support::independent_icrc_ok(read[i].bytes)) << sizes[i];
    EXPECT_EQ(read[i].time, i * kNanosecond);
    fabric::Packet decoded;
    fabric::decode_frame(read[i].bytes, decoded);
    make(packet, i, sizes[i]);
    EXPECT_EQ(static_cast<fabric::PacketHeaders&>(decoded),
              static_cast<fabric::PacketHeaders&>(packet));
    EXPECT_TRUE(std::equal(decoded.payload().begin(), decoded.payload().end(),
                           packet.payload().begin(), packet.payload().end()));
  }
}

TEST(PacketRecorder, NothingBeforeTheEpoch) {
  const Folder folder;
  PacketRecorder recorder(folder / "x.pcap");
  fabric::PacketObserver& port = recorder.add_port();
  fabric::Packet packet;
  make(packet, 1, 0);
  port.on_sent(packet, kEpoch);
  recorder.set_epoch(kEpoch);
  port.on_sent(packet, kEpoch - 1);
  EXPECT_EQ(recorder.packets(), 0u);
  recorder.close();
  EXPECT_TRUE(read_all(folder / "x.pcap").empty());
}

// Ports report in turns, each some time ahead of the others.
void in_turns(PacketRecorder& recorder, std::size_t ports, int turns, bool flush) {
  std::vector<fabric::PacketObserver*> observers;
  for (std::size_t i = 0; i < ports; ++i) observers.push_back(&recorder.add_port());
  recorder.set_epoch(kEpoch);
  fabric::Packet packet;
  for (int turn = 0; turn < turns; ++turn) {
    for (std::size_t port = 0; port < ports; ++port) {
      for (int i = 0; i < 20; ++i) {
        make(packet, static_cast<std::uint32_t>(port * 1000), 1000);
        observers[port]->on_sent(packet, kEpoch + Time{10} * (Time{20} * turn + i) * kNanosecond);
      }
    }
    if (flush) recorder.flush_until(kEpoch + Time{200} * (turn + 1) * kNanosecond);
  }
  recorder.close();
}

void expect_in_order(const std::vector<Read>& read, std::size_t ports) {
  for (std::size_t i = 0; i < read.size(); ++i) {
    ASSERT_EQ(read[i].time, static_cast<Time>(i / ports) * 10 * kNanosecond) << i;
    ASSERT_EQ(psn_of(read[i]), i % ports * 1000) << i;
  }
}

TEST(PacketRecorder, PacketsOfSeveralPortsComeInOrder) {
  const Folder folder;
  {
    PacketRecorder recorder(folder / "x.pcap", hw::kMicrosecond);
    in_turns(recorder, 3, 100, false);
  }
  const auto read = read_all(folder / "x.pcap");
  ASSERT_EQ(read.size(), 6000u);
  expect_in_order(read, 3);
}

TEST(PacketRecorder, FlushingWritesSoonerInTheSameOrder) {
  const Folder folder;
  {
    PacketRecorder plain(folder / "plain.pcap", hw::kMicrosecond);
    in_turns(plain, 2, 50, false);
    PacketRecorder flushed(folder / "flushed.pcap", hw::kMicrosecond);
    in_turns(flushed, 2, 50, true);
  }
  EXPECT_EQ(text_of(folder / "plain.pcap"), text_of(folder / "flushed.pcap"));
}

std::string close_error(PacketRecorder& recorder) {
  try {
    recorder.close();
  } catch (const OutputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(PacketRecorder, AFullDiskIsToldAtTheEndAndLeavesNothing) {
  for (const std::uint32_t packets : {0u, 1u, 10'000u}) {
    const Folder folder;
    const support::FileSizeLimit full(0);
    {
      PacketRecorder recorder(folder / "x.pcap", 1);
      fabric::PacketObserver& port = recorder.add_port();
      recorder.set_epoch(0);
      fabric::Packet packet;
      for (std::uint32_t i = 0; i < packets; ++i) {
        make(packet, i, 1000);
        port.on_sent(packet, i * kNanosecond);
      }
      EXPECT_EQ(recorder.failed(), packets > 1000);
      EXPECT_EQ(close_error(recorder), (folder / "x.pcap").string() +
                                           ": cannot write: " + support::FileSizeLimit::kReason);
    }
    EXPECT_EQ(folder.files(), 0u);
  }
}

TEST(PacketRecorder, PlacesThatCannotBeWrittenAreToldAtOnce) {
  const Folder folder;
  EXPECT_THROW(PacketRecorder(folder / "missing/x.pcap"), OutputError);
  EXPECT_THROW(PacketRecorder{folder.path()}, OutputError);
  EXPECT_EQ(folder.files(), 0u);
}

TEST(PacketRecorder, WithoutCloseNothingIsLeft) {
  const Folder folder;
  { const PacketRecorder recorder(folder / "x.pcap"); }
  EXPECT_EQ(folder.files(), 0u);
}

}  // namespace
}  // namespace hcasim::sim::test
