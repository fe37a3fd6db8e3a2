// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "fabric/capture_file.hpp"
#include "fabric/codec.hpp"
#include "sim/import/capture_analysis.hpp"

namespace hcasim::sim {

/// A capture that a test makes packet by packet. One microsecond passes from packet to packet.
class MadeCapture : public testing::Test {
 protected:
  using Tweak = std::function<void(fabric::Packet&)>;

  MadeCapture()
      : file_(std::filesystem::temp_directory_path() /
              ("hcasim-import-" + std::to_string(getpid()) + ".pcap")),
        writer_(std::make_unique<fabric::CaptureWriter>(file_)) {}
  ~MadeCapture() override {
    writer_.reset();
    std::filesystem::remove(file_);
  }

  /// The node with this number, 10.0.0.n.
  static hw::Gid node(std::uint8_t n) {
    return hw::gid_of_ipv4(std::array<std::uint8_t, 4>{10, 0, 0, n});
  }

  /// A packet from node `from` to queue pair `qpn` of node 3 - `from`.
  void send(int from, hw::BthOpcode opcode, std::uint32_t qpn, std::uint32_t psn,
            std::size_t bytes = 0, const Tweak& tweak = nullptr) {
    packet_.clear();
    packet_.opcode = opcode;
    packet_.dest_qp = qpn;
    packet_.psn = psn & 0xff'ffff;
    packet_.address.src_gid = node(static_cast<std::uint8_t>(from));
    packet_.address.dst_gid = node(static_cast<std::uint8_t>(3 - from));
    std::ranges::fill(packet_.resize_payload(bytes), std::uint8_t{7});
    packet_.aeth.syndrome = 0x1f;
    if (tweak) tweak(packet_);
    frame_.resize(fabric::kMaxFrameBytes);
    frame_.resize(fabric::encode_frame(packet_, frame_));
    if (damage_) damage_(frame_);
    writer_->write(time_, frame_);
    time_ += hw::kMicrosecond;
  }

  /// An ACK or NAK from node `from` to queue pair `qpn`.
  void answer(int from, std::uint32_t qpn, std::uint32_t psn, std::uint8_t syndrome = 0x1f) {
    send(from, hw::BthOpcode::kRcAcknowledge, qpn, psn, 0,
         [syndrome](fabric::Packet& packet) { packet.aeth.syndrome = syndrome; });
  }

  static Tweak rdma(std::uint32_t length) {
    return [length](fabric::Packet& packet) { packet.reth = {0x1000, 0x77, length}; };
  }

  CaptureAnalysis analyse() {
    writer_->close();
    return analyse_capture(file_);
  }

  /// Done to each frame before it is written.
  std::function<void(std::vector<std::uint8_t>&)> damage_;
  std::filesystem::path file_;
  hw::Time time_ = 0;

 private:
  std::unique_ptr<fabric::CaptureWriter> writer_;
  fabric::Packet packet_;
  std::vector<std::uint8_t> frame_;
};

}  // namespace hcasim::sim
