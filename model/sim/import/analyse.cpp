// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// From a capture file to flows, from flows to messages.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "fabric/capture_file.hpp"
#include "fabric/codec.hpp"
#include "sim/import/capture_analysis.hpp"
#include "sim/import/link_layer.hpp"
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
  explicit Sorter(const std::filesystem::path& file) : reader_(file) {
    if (link_type_known(reader_.link_type())) return;
    throw fabric::CaptureError(
        file, "link type " + std::to_string(static_cast<int>(reader_.link_type())) +
                  " is not read; Ethernet (1), Linux cooked (113, 276) and ERF (197) are");
  }

  void run() {
    fabric::CapturedFrame frame;
    while (reader_.next(frame)) take(frame);
    analysis.frames = frames_;
    analysis.start_seconds = reader_.start_seconds();
    analysis.start_nanoseconds = reader_.start_nanoseconds();
    analysis.endpoints.assign(endpoints_.begin(), endpoints_.end());
  }

  CaptureAnalysis analysis;
  std::map<FlowKey, Flow> flows;

 private:
  void take(const fabric::CapturedFrame& frame) {
    ++frames_;
    const auto result = decode_captured(reader_.link_type(), frame.bytes, *packet_);
    if (result.status == fabric::DecodeStatus::kOtherProtocol) return;
    if (!result.is_roce()) {
      ++analysis.unexplained[std::string(fabric::describe(result.status))];
      return;
    }
    ++analysis.packets;
    if (count_icrc(result.icrc)) sort(frame);
  }

  /// @return false for a packet that its receiver dropped
  bool count_icrc(fabric::IcrcStatus status) {
    IcrcCounts& icrc = analysis.icrc;
    if (status == fabric::IcrcStatus::kOk) ++icrc.ok;
    if (status == fabric::IcrcStatus::kBad) ++icrc.bad;
    if (status == fabric::IcrcStatus::kUnchecked) ++icrc.unchecked;
    return status != fabric::IcrcStatus::kBad;
  }

  void sort(const fabric::CapturedFrame& frame) {
    if (packet_->dest_qp <= 1) {
      ++analysis.management;
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

  fabric::CaptureReader reader_;
  std::uint64_t frames_ = 0;
  std::set<Endpoint> endpoints_;
  std::unique_ptr<fabric::Packet> packet_ = std::make_unique<fabric::Packet>();
};

void analyse_connection(const Connection& connection, CaptureAnalysis& analysis) {
  const Flow& forward = *connection.forward;
  const Flow* const backward = connection.backward;
  const bool reliable = forward.key.transport == hw::Transport::kRc;
  const auto analyse = reliable ? analyse_reliable : analyse_unreliable;
  analyse(forward, backward, analysis);
  if (backward != nullptr) {
    analyse(*backward, &forward, analysis);
  } else if (reliable) {
    // Requests of the other direction are not in the capture, answers to them may be.
    const auto answers = std::ranges::count_if(forward.packets, &SeenPacket::is_response);
    if (answers > 0) analysis.unexplained[kNoRequest] += static_cast<std::uint64_t>(answers);
  }
}

void analyse_flows(const std::map<FlowKey, Flow>& flows, CaptureAnalysis& analysis) {
  std::vector<const Flow*> connected;
  for (const auto& [key, flow] : flows) {
    for (const SeenPacket& packet : flow.packets) count_nak(packet, analysis.naks);
    if (key.transport == hw::Transport::kUd) {
      analyse_datagrams(flow, analysis);
    } else {
      connected.push_back(&flow);
    }
  }
  for (const Connection& connection : pair_flows(connected)) {
    analyse_connection(connection, analysis);
  }
  std::ranges::sort(analysis.records, {}, &MessageRecord::first_frame);
}

}  // namespace

CaptureAnalysis analyse_capture(const std::filesystem::path& file) {
  Sorter sorter(file);
  sorter.run();
  analyse_flows(sorter.flows, sorter.analysis);
  return std::move(sorter.analysis);
}

}  // namespace hcasim::sim
