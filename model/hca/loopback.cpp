// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "hca/loopback.hpp"

#include <utility>

#include "hca/responder.hpp"

namespace hcasim::hca {

void Loopback::take(fabric::PacketPtr packet, hw::Time departure) {
  under_way_.push_sorted({std::move(packet), departure}, [departure](const UnderWay& other) {
    return other.departure > departure;
  });
  schedule(core_.clock.edge_after(departure) + core_.responder->stage().latency());
}

void Loopback::on_event(std::uint64_t) {
  core_.responder->looped_back(under_way_.pop().packet);
}

}  // namespace hcasim::hca
