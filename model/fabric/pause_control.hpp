// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "fabric/link.hpp"

namespace hcasim::fabric {

/// Priority flow control of one input of a switch (IEEE 802.1Q clause 36, with one priority for all
/// traffic): counts what the switch holds of the input's packets and pauses the sender when that
/// is too much. A pause is renewed before it ends.
class PauseControl final : public sim::Unit {
 public:
  PauseControl(sim::Engine& engine, const std::string& name, EthernetPort& port,
               const SwitchParameters& parameters);

  /// The switch has taken a packet of this input into its buffer.
  void hold(std::uint32_t bytes) {
    held_ += bytes;
    if (enabled_ && !paused_ && held_ >= xoff_) pause();
  }
  /// It has left.
  void release(std::uint32_t bytes) {
    held_ -= bytes;
    if (paused_ && held_ <= xon_) resume();
  }

  void on_event(std::uint64_t argument) override;

  std::uint64_t held() const { return held_; }
  std::uint64_t frames_sent() const { return frames_sent_; }

 private:
  void pause();
  void resume();

  EthernetPort& port_;
  bool enabled_;
  std::uint64_t xoff_;
  std::uint64_t xon_;
  Time length_;  // of a pause
  bool paused_ = false;
  std::uint64_t held_ = 0;
  std::uint64_t frames_sent_ = 0;
  Time renew_at_ = 0;
};

}  // namespace hcasim::fabric
