// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace hcasim::fabric {

/// What lies between the nodes.
enum class Topology : std::uint32_t {
  kAuto,    ///< a cable between two nodes, a switch between more
  kSwitch,  ///< a switch in any case
};

/// The port of a switch to which a node's link leads. Sources: configuration schema.
struct SwitchParameters {
  double p_max = 0.01;                   ///< share of packets marked at k_max_bytes
  std::uint32_t latency_ns = 300;        ///< from the last bit in to the output's queue
  std::uint32_t buffer_bytes = 1 << 20;  ///< of the output
  std::uint32_t k_min_bytes = 5'000;     ///< no mark up to here
  std::uint32_t k_max_bytes = 200'000;   ///< every packet is marked from here on
  std::uint32_t xoff_bytes = 32'768;     ///< held of one input: it is paused
  std::uint32_t xon_bytes = 16'384;      ///< held of a paused input: it goes on
  std::uint32_t pause_quanta = 65'535;   ///< length of a pause, in 512 bit times
  bool ecn = false;
  bool pfc = false;
};

/// A full-duplex Ethernet link between two ports. Sources: configuration schema.
struct Parameters {
  double rate_gbps = 100.0;
  std::uint32_t mac_phy_ns = 150;     ///< MAC, PCS and FEC of one end; each end adds it once
  std::uint32_t propagation_ns = 10;  ///< cable
  Topology topology = Topology::kAuto;
  std::uint32_t traffic_class = 0;  ///< of the packets that the node's connections send
  SwitchParameters at_switch;

  /// What befalls the packets that this end sends; probabilities of each packet.
  struct Faults {
    double loss = 0;
    double duplication = 0;
    double reordering = 0;
    double corruption = 0;
    std::uint32_t duplication_delay_ns = 100;  ///< of the copy behind the packet
    std::uint32_t reordering_delay_ns = 2000;  ///< for which a packet is held back
    std::uint32_t down_at_ns = 0;              ///< since the run began
    std::uint32_t down_for_ns = 0;             ///< 0: never down

    bool any() const {
      return loss > 0 || duplication > 0 || reordering > 0 || corruption > 0 || down_for_ns != 0;
    }
  } faults;
};

}  // namespace hcasim::fabric
