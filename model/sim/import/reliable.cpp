// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/import/reliable.hpp"

#include "sim/import/rc_epoch.hpp"

namespace hcasim::sim {

void analyse_reliable(const Flow& requests, const Flow* answers, const Ends& ends,
                      CaptureAnalysis& analysis) {
  RcEpoch epoch(requests, ends);
  const auto take_request = [&](const SeenPacket& packet) {
    if (packet.is_response()) return;
    if (epoch.is_far(packet.psn)) {
      epoch.settle(analysis);
      epoch = RcEpoch(requests, ends);
    }
    if (!epoch.add_request(packet)) ++analysis.retransmitted;
  };
  const auto take_answer = [&](const SeenPacket& packet) {
    if (packet.is_response()) epoch.add_answer(packet);
  };
  // Merged by the place in the capture.
  const std::vector<SeenPacket> none;
  const auto& packets = answers != nullptr ? answers->packets : none;
  auto answer = packets.begin();
  for (const SeenPacket& request : requests.packets) {
    while (answer != packets.end() && answer->frame < request.frame) take_answer(*answer++);
    take_request(request);
  }
  while (answer != packets.end()) take_answer(*answer++);
  epoch.settle(analysis);
}

}  // namespace hcasim::sim
