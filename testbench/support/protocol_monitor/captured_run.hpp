// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/protocol_monitor/protocol_monitor.hpp"

namespace hcasim::monitor {

/// The link of a run: what lies between a packet's first bit and its arrival.
struct CapturedLink {
  double rate_gbps = 100;
  hw::Time latency = 310 * hw::kNanosecond;  ///< both MACs and the cable
};

/// The packets that the ports of a run put on a link which loses nothing, as its capture has them.
/// Ports are told apart by their address; they have the numbers of the addresses in their order.
class CapturedRun {
 public:
  /// @throws fabric::CaptureError when the file cannot be read
  explicit CapturedRun(const std::filesystem::path& file);

  std::size_t ports() const { return ports_.size(); }
  /// The port with this address; none when no packet has it.
  std::optional<std::uint32_t> port(const hw::Gid& address) const;
  std::size_t packets() const { return packets_.size(); }
  /// The QPNs of a port that packets went to, in their order.
  std::vector<std::uint32_t> queue_pairs(std::uint32_t port) const;
  /// Packets of port `from` to this queue pair of port `to` are those of queue pair `qpn`. To be
  /// told where a port has connections with several others, whose QPNs may be equal.
  void set_sender(std::uint32_t from, std::uint32_t to, std::uint32_t dest_qp, std::uint32_t qpn) {
    senders_[{from, to, dest_qp}] = qpn;
  }
  /// Shows everything to a monitor that has these ports and their queue pairs.
  void show(ProtocolMonitor& monitor, const CapturedLink& link) const;

 private:
  struct Sent {
    hw::Time at;
    std::uint32_t from;
    std::uint32_t to;
    std::size_t frame;  // where its bytes begin
    std::size_t bytes;
  };

  std::vector<hw::Gid> ports_;
  std::vector<Sent> packets_;
  std::vector<std::uint8_t> frames_;
  std::map<std::uint32_t, std::set<std::uint32_t>> queue_pairs_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> senders_;
};

}  // namespace hcasim::monitor
