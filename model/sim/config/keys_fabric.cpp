// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/config/schema.hpp"

namespace hcasim::sim {
namespace {

constexpr std::string_view kSound = "assumed: a link without faults";

void add_fault_keys(KeyList& keys, fabric::Parameters::Faults& p) {
  constexpr Range kProbability = between(0, 1);
  constexpr Range kTime = between(0, 1'000'000'000);
  keys.insert(
      keys.end(),
      {
          {"fabric.faults.loss", &p.loss, kProbability,
           "Probability that a packet which this end sends is lost", kSound},
          {"fabric.faults.duplication", &p.duplication, kProbability,
           "Probability that a packet arrives twice", kSound},
          {"fabric.faults.duplication_delay_ns", &p.duplication_delay_ns, kTime,
           "How long after a packet its copy arrives", "assumed: about one packet later"},
          {"fabric.faults.reordering", &p.reordering, kProbability,
           "Probability that a packet is held back, so that later ones pass it", kSound},
          {"fabric.faults.reordering_delay_ns", &p.reordering_delay_ns, kTime,
           "How long a packet is held back",
           "assumed: the other path through a network, some full packets longer"},
          {"fabric.faults.corruption", &p.corruption, kProbability,
           "Probability that one to three bits of a packet flip, BTH to ICRC; the receiver checks "
           "the ICRC",
           kSound},
          {"fabric.faults.down_at_ns", &p.down_at_ns, kTime,
           "When the link goes down, counted from the beginning of the run", kSound},
          {"fabric.faults.down_for_ns", &p.down_for_ns, kTime,
           "How long it is down: what is on it or sent meanwhile is lost; 0 is never down", kSound},
      });
}

}  // namespace

void add_keys(KeyList& keys, fabric::Parameters& p) {
  constexpr Range kTime = between(0, 1'000'000);
  keys.insert(keys.end(),
              {
                  {"fabric.rate_gbps", &p.rate_gbps, between(0.1, 1600),
                   "Data rate of the link, each way", "IEEE 802.3: 100 Gb/s Ethernet"},
                  {"fabric.mac_phy_ns", &p.mac_phy_ns, kTime,
                   "MAC, PCS and error correction of one end, passed at each end of a link",
                   "assumed: error correction has to collect a block of 5 kbit first"},
                  {"fabric.propagation_ns", &p.propagation_ns, kTime, "Time of flight in the cable",
                   "assumed: two metres of copper at 5 ns a metre"},
              });
  add_fault_keys(keys, p.faults);
}

void add_keys(KeyList& keys, RvtParameters& p) {
  keys.insert(keys.end(),
              {
                  {"rvt.loopback_on_wire", &p.loopback_on_wire, flag(),
                   "Queue pairs of one device talk through the adapter instead of in the driver",
                   "Linux rdmavt: the driver copies (rvt_ruc_loopback)"},
                  {"rvt.rdmavt_compat", &p.rdmavt_compat, flag(),
                   "Keep what rdmavt does where it departs from the InfiniBand specification",
                   "assumed: the specification is what other adapters follow"},
              });
}

}  // namespace hcasim::sim
