// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// From a capture file to flows, from flows to messages.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "fabric/codec.hpp"
#include "sim/import/capture_analysis.hpp"
#include "sim/import/capture_merge.hpp"
#include "sim/import/connection_setup.hpp"
#include "sim/import/link_layer.hpp"
#include "sim/import/message.hpp"
#include "sim/import/pairing.hpp"
#include "sim/import/rc_answers.hpp"
#include "sim/import/reliable.hpp"
#include "sim/import/unreliable.hpp"

namespace hcasim::sim {

namespace {

bool is_modelled(hw::Transport transport) {
  return transport == hw::Transport::kRc || transport == hw::Transport::kUc ||
         transport == hw::Transport::kUd;
}

/// Sorts the packets of a capture.
class Sorter {
 public:
  Sorter(std::span<const std::filesystem::path> files, hw::Time window)
      : merge_(files), twins_(files.size(), window) {}

  void run() {
    MergedFrame merged;
    while (merge_.next(merged)) take(merged);
    analysis.frames = merge_.frames();
    analysis.start_seconds = merge_.start_seconds();
    analysis.start_nanoseconds = merge_.start_nanoseconds();
    analysis.endpoints.assign(endpoints_.begin(), endpoints_.end());
  }

  CaptureAnalysis analysis;
  std::map<FlowKey, Flow> flows;
  ConnectionSetup setup;

 private:
  void take(const MergedFrame& merged) {
    const fabric::CapturedFrame& frame = merged.frame;
    const auto result = decode_captured(merged.link_type, frame.bytes, *packet_);
    if (result.status == fabric::DecodeStatus::kOtherProtocol) return;
    if (!result.is_roce()) {
      ++analysis.unexplained[std::string(fabric::describe(result.status))];
      return;
    }
    if (twins_.seen_before(*packet_, merged.capture, frame.time)) return;
    ++analysis.packets;
    if (count_icrc(result.icrc)) sort(frame, result.payload_captured);
  }

  /// @return false for a packet that its receiver dropped
  bool count_icrc(fabric::IcrcStatus status) {
    IcrcCounts& icrc = analysis.icrc;
    if (status == fabric::IcrcStatus::kOk) ++icrc.ok;
    if (status == fabric::IcrcStatus::kBad) ++icrc.bad;
    if (status == fabric::IcrcStatus::kUnchecked) ++icrc.unchecked;
    return status != fabric::IcrcStatus::kBad;
  }

  void sort(const fabric::CapturedFrame& frame, std::size_t payload_captured) {
    if (packet_->dest_qp <= 1) {
      ++analysis.management;
      setup.take(*packet_, payload_captured);
      return;
    }
    endpoints_.insert({packet_->address.dst_gid, packet_->dest_qp});
    if (!is_modelled(hw::transport_of(packet_->opcode))) {
      ++analysis.not_modelled;
    } else if (packet_->info().operation == hw::Operation::kNone) {
      ++analysis.unexplained["has a reserved opcode"];
    } else {
      const FlowKey key = flow_key(*packet_);
      Flow& flow = flows[key];
      flow.key = key;
      flow.add(frame.time, frame.number, *packet_);
    }
  }

  CaptureMerge merge_;
  TwinFilter twins_;
  std::set<Endpoint> endpoints_;
  std::unique_ptr<fabric::Packet> packet_ = std::make_unique<fabric::Packet>();
};

void analyse_direction(const Flow& flow, const Flow* back, std::optional<std::uint32_t> sender,
                       CaptureAnalysis& analysis) {
  const Ends ends = ends_of(flow, back, sender);
  if (flow.key.transport == hw::Transport::kRc) {
    analyse_reliable(flow, back, ends, analysis);
  } else {
    analyse_unreliable(flow, ends, analysis);
  }
}

void analyse_connection(const Connection& connection, CaptureAnalysis& analysis) {
  const Flow& forward = *connection.forward;
  analyse_direction(forward, connection.backward, connection.forward_src_qp, analysis);
  if (connection.backward != nullptr) {
    analyse_direction(*connection.backward, &forward, {}, analysis);
    return;
  }
  // Requests of the other direction are not in the capture, answers to them may be.
  const auto answers = std::ranges::count_if(forward.packets, &SeenPacket::is_response);
  if (answers > 0) analysis.unexplained[kNoRequest] += static_cast<std::uint64_t>(answers);
}

void analyse_flows(const std::map<FlowKey, Flow>& flows, const ConnectionSetup& setup,
                   CaptureAnalysis& analysis) {
  std::vector<const Flow*> connected;
  for (const auto& [key, flow] : flows) {
    for (const SeenPacket& packet : flow.packets) count_nak(packet, analysis.naks);
    if (key.transport == hw::Transport::kUd) {
      analyse_datagrams(flow, analysis);
    } else {
      connected.push_back(&flow);
    }
  }
  for (const Connection& connection : pair_flows(connected, setup.pairs())) {
    analyse_connection(connection, analysis);
    if (connection.uncertain) ++analysis.uncertain;
  }
  std::ranges::sort(analysis.records, {}, &CapturedMessage::first_frame);
}

}  // namespace

CaptureAnalysis analyse_captures(std::span<const std::filesystem::path> files, hw::Time window) {
  Sorter sorter(files, window);
  sorter.run();
  analyse_flows(sorter.flows, sorter.setup, sorter.analysis);
  return std::move(sorter.analysis);
}

}  // namespace hcasim::sim
