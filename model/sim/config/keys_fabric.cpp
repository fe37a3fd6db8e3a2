// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/config/schema.hpp"

namespace hcasim::sim {

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
