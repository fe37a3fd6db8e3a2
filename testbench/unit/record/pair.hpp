// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "sim/record/recorder.hpp"

namespace hcasim::sim::test {

using hca::Stamp;
using hw::kNanosecond;
using hw::Time;
using hw::WcStatus;
using hw::WrOpcode;

/// Two nodes, `a` and `b`, each with one QP that is joined to the other's; plays what software and
/// adapters would report.
class Pair {
 public:
  static constexpr std::uint32_t kQpA = 17;
  static constexpr std::uint32_t kQpB = 4711;
  static constexpr Time kEpoch = 1000 * kNanosecond;

  explicit Pair(const std::string& csv = {}, bool reliable = true)
      : recorder(RecorderOptions{.completions_csv = csv, .reorder_window = hw::kMillisecond}),
        a(recorder.add_node("a")),
        b(recorder.add_node("b")) {
    a.qp_created(kQpA, "qa", reliable);
    b.qp_created(kQpB, "qb", reliable);
    recorder.set_epoch(kEpoch);
  }

  static constexpr Time at(Time ns) { return kEpoch + ns * kNanosecond; }

  /// Posts on `a`. @return the number of the message
  std::uint64_t post(WrOpcode opcode, std::uint64_t bytes, Time ns) {
    a.send_posted(kQpA, opcode, bytes, at(ns));
    return a.message_of(kQpA, posted_++);
  }
  /// All stamps of the way out, 10 ns apart from 10 ns after `ns` on.
  void sent(std::uint64_t message, Time ns) {
    a.stamp(message, Stamp::kDoorbellSeen, at(ns + 10));
    a.stamp(message, Stamp::kWqeFetched, at(ns + 20));
    a.stamp(message, Stamp::kFirstPacketOut, at(ns + 30));
    a.stamp(message, Stamp::kLastPacketOut, at(ns + 40));
  }
  /// All stamps of a message that takes a receive, 10 ns apart from `ns` on.
  void received(std::uint64_t message, Time ns) {
    b.stamp(message, Stamp::kFirstPacketIn, at(ns));
    b.stamp(message, Stamp::kRwqeTaken, at(ns + 10));
    b.stamp(message, Stamp::kDataVisible, at(ns + 20));
    b.stamp(message, Stamp::kRecvCqeVisible, at(ns + 30));
    b.receive_completed(kQpB, message);
  }
  void acknowledged(std::uint64_t message, Time ns) {
    a.stamp(message, Stamp::kAcknowledged, at(ns));
  }
  void send_cqe(std::uint64_t message, Time ns) {
    a.stamp(message, Stamp::kSendCqeVisible, at(ns));
  }
  void send_polled(std::uint64_t count, Time ns, WcStatus status = WcStatus::kSuccess) {
    a.send_polled(kQpA, count, status, at(ns));
  }
  void receive_posted(Time ns) { b.receive_posted(kQpB, at(ns)); }
  void receive_polled(std::uint64_t bytes, Time ns, WcStatus status = WcStatus::kSuccess) {
    b.receive_polled(kQpB, status, bytes, at(ns));
  }

  RunStatistics close(Time ns) {
    recorder.close(at(ns));
    return recorder.statistics();
  }

  Recorder recorder;
  NodeRecorder& a;
  NodeRecorder& b;

 private:
  std::uint64_t posted_ = 0;
};

}  // namespace hcasim::sim::test
