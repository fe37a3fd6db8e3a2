// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <vector>

#include "fabric/link.hpp"
#include "fabric/port.hpp"
#include "sim/engine/engine.hpp"

namespace hcasim::testing {

using hw::Time;

/// A packet that an adapter sent.
struct SentPacket {
  fabric::PacketHeaders headers;
  std::vector<std::uint8_t> payload;
  Time at = 0;         ///< handed to the port
  Time first_bit = 0;  ///< on the wire

  const hw::OpcodeInfo& info() const { return headers.info(); }
};

/// A port that writes down what is sent. It takes `byte_time` for each byte of wire. Between
/// pause() and go_on() packets wait, as in a port that honours pause frames.
class ScriptedPort final : public fabric::PacketPort {
 public:
  ScriptedPort(const sim::Engine& engine, Time byte_time)
      : engine_(engine), byte_time_(byte_time) {}

  Time send(fabric::PacketPtr packet) override {
    if (paused_) {
      waiting_.push_back(std::move(packet));
      return fabric::kStartsLater;
    }
    return start(std::move(packet));
  }
  void pause() { paused_ = true; }
  void go_on() {
    paused_ = false;
    for (fabric::PacketPtr& packet : waiting_) {
      fabric::Departure departure{packet->message, packet->opcode};
      departure.start = start(std::move(packet));
      departure.end = free_at_;
      listener->started(departure);
    }
    waiting_.clear();
  }
  void set_listener(fabric::PortListener& its_listener) override { listener = &its_listener; }
  Time free_at() const override { return free_at_; }
  void set_observer(fabric::PacketObserver* observer) { observer_ = observer; }

  std::vector<SentPacket> sent;
  fabric::PortListener* listener = nullptr;

 private:
  Time start(fabric::PacketPtr packet) {
    const Time start = std::max(engine_.now(), free_at_);
    free_at_ = start + static_cast<Time>(packet->wire_bytes()) * byte_time_;
    if (observer_ != nullptr) observer_->on_sent(*packet, start);
    const auto data = packet->payload();
    sent.push_back({*packet, {data.begin(), data.end()}, engine_.now(), start});
    return start;
  }

  const sim::Engine& engine_;
  Time byte_time_;
  Time free_at_ = 0;
  bool paused_ = false;
  std::vector<fabric::PacketPtr> waiting_;
  fabric::PacketObserver* observer_ = nullptr;
};

}  // namespace hcasim::testing
