// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "fabric/pause_control.hpp"

namespace hcasim::fabric {

namespace {
constexpr std::uint64_t kQuantumBytes = 512 / 8;  // IEEE 802.3 annex 31B
}

PauseControl::PauseControl(sim::Engine& engine, const std::string& name, EthernetPort& port,
                           const SwitchParameters& p)
    : Unit(engine, name),
      port_(port),
      enabled_(p.pfc),
      xoff_(p.xoff_bytes),
      xon_(p.xon_bytes),
      length_(port.clock().rate().floor(p.pause_quanta * kQuantumBytes)) {}

void PauseControl::pause() {
  paused_ = true;
  ++frames_sent_;
  port_.send_pause(length_);
  renew_at_ = now() + length_ / 2;
  schedule(renew_at_);
}

void PauseControl::resume() {
  paused_ = false;
  ++frames_sent_;
  port_.send_pause(0);
}

void PauseControl::on_event(std::uint64_t) {
  if (paused_ && now() == renew_at_) pause();
}

}  // namespace hcasim::fabric
