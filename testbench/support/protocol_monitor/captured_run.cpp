// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "support/protocol_monitor/captured_run.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

#include "fabric/capture_file.hpp"
#include "fabric/codec.hpp"

namespace hcasim::monitor {

CapturedRun::CapturedRun(const std::filesystem::path& file) {
  fabric::CaptureReader reader(file);
  fabric::CapturedFrame frame;
  fabric::Packet packet;
  std::vector<std::pair<hw::Gid, hw::Gid>> ends;
  while (reader.next(frame)) {
    packet.clear();
    if (!fabric::decode_frame(frame.bytes, packet).is_roce()) continue;
    packets_.push_back({frame.time, 0, 0, frames_.size(), frame.bytes.size()});
    frames_.insert(frames_.end(), frame.bytes.begin(), frame.bytes.end());
    ends.emplace_back(packet.address.src_gid, packet.address.dst_gid);
    ports_.push_back(packet.address.src_gid);
    ports_.push_back(packet.address.dst_gid);
  }
  std::sort(ports_.begin(), ports_.end());
  ports_.erase(std::unique(ports_.begin(), ports_.end()), ports_.end());
  for (std::size_t i = 0; i < packets_.size(); ++i) {
    Sent& sent = packets_[i];
    sent.from = *port(ends[i].first);
    sent.to = *port(ends[i].second);
    fabric::decode_frame({&frames_[sent.frame], sent.bytes}, packet);
    queue_pairs_[sent.to].insert(packet.dest_qp);
  }
}

std::optional<std::uint32_t> CapturedRun::port(const hw::Gid& address) const {
  const auto found = std::lower_bound(ports_.begin(), ports_.end(), address);
  if (found == ports_.end() || *found != address) return std::nullopt;
  return static_cast<std::uint32_t>(found - ports_.begin());
}

std::vector<std::uint32_t> CapturedRun::queue_pairs(std::uint32_t port) const {
  const auto found = queue_pairs_.find(port);
  if (found == queue_pairs_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

void CapturedRun::show(ProtocolMonitor& monitor, const CapturedLink& link) const {
  using Arrival = std::tuple<hw::Time, std::size_t>;  // time, index of the packet
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> under_way;
  fabric::Packet packet;
  const auto decode = [&](const Sent& sent) {
    packet.clear();
    fabric::decode_frame({&frames_[sent.frame], sent.bytes}, packet);
  };
  const auto arrive_until = [&](hw::Time time) {
    while (!under_way.empty() && std::get<0>(under_way.top()) <= time) {
      const auto [at, index] = under_way.top();
      under_way.pop();
      decode(packets_[index]);
      monitor.arrived(packets_[index].to, packet, at);
    }
  };
  for (std::size_t i = 0; i < packets_.size(); ++i) {
    arrive_until(packets_[i].at);
    decode(packets_[i]);
    const double bits = 8000.0 * static_cast<double>(packet.wire_bytes());
    const auto on_the_wire = static_cast<hw::Time>(bits / link.rate_gbps);
    const auto sender = senders_.find({packets_[i].from, packets_[i].to, packet.dest_qp});
    if (sender != senders_.end()) packet.src_qp = sender->second;
    monitor.sent(packets_[i].from, packet, packets_[i].at);
    under_way.emplace(packets_[i].at + on_the_wire + link.latency, i);
  }
  arrive_until(hw::kNever);
}

}  // namespace hcasim::monitor
