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
           "How long it is down: what does not leave whole before or after it is lost; 0 is never "
           "down",
           kSound},
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
                  {"fabric.topology", &p.topology, words(),
                   "auto: a cable between two nodes, a switch between more; switch: a switch in "
                   "any case, and for all nodes if one asks for it",
                   "assumed: two nodes need none"},
                  {"fabric.traffic_class", &p.traffic_class, between(0, 255),
                   "DSCP (times 4) and ECN of the packets of the node's connections; 1 or 2 in the "
                   "low two bits lets switches mark them",
                   "IETF RFC 3168: 0 in the low two bits is not ECN-capable"},
              });
  add_keys(keys, p.at_switch);
  add_fault_keys(keys, p.faults);
}

// Of a node: those of the switch port to which its link leads.
void add_keys(KeyList& keys, fabric::SwitchParameters& p) {
  constexpr Range kBytes = between(0, 1 << 30);
  constexpr const char* kDcqcn = "Zhu et al., SIGCOMM 2015: parameters of DCQCN at 40 Gb/s";
  keys.insert(
      keys.end(),
      {
          {"fabric.switch.latency_ns", &p.latency_ns, between(0, 1'000'000),
           "From the last bit of a packet at the input to the queue of its output",
           "assumed: switches state 300 to 600 ns from port to port"},
          {"fabric.switch.buffer_bytes", &p.buffer_bytes, between(9216, 1 << 30),
           "Room for packets, with FCS, at the output to the node; what does not fit is dropped",
           "assumed: 64 MB among 64 ports"},
          {"fabric.switch.ecn", &p.ecn, flag(),
           "Mark ECN-capable packets by the bytes that wait for the output to the node",
           "assumed: adapters do not slow down on marks"},
          {"fabric.switch.k_min_bytes", &p.k_min_bytes, kBytes,
           "No packet is marked that finds at most this much at its output", kDcqcn},
          {"fabric.switch.k_max_bytes", &p.k_max_bytes, kBytes,
           "Every packet is marked that finds at least this much", kDcqcn},
          {"fabric.switch.p_max", &p.p_max, between(0, 1),
           "Share of packets marked just below k_max_bytes; it rises to this from k_min_bytes on",
           kDcqcn},
          {"fabric.switch.pfc", &p.pfc, flag(),
           "Priority flow control: pause the node while the switch holds too much of its packets",
           "IEEE 802.1Q: off unless it is configured"},
          {"fabric.switch.xoff_bytes", &p.xoff_bytes, between(1, 1 << 30),
           "The node is paused when the switch holds this much of its packets",
           "assumed: a few packets of 4 KiB"},
          {"fabric.switch.xon_bytes", &p.xon_bytes, kBytes,
           "It may go on when no more than this is left",
           "assumed: half of xoff_bytes, for a pause frame takes a while to work"},
          {"fabric.switch.pause_quanta", &p.pause_quanta, between(1, 65'535),
           "Length of a pause in 512 bit times; it is renewed after half of it",
           "IEEE 802.3 annex 31B: the longest that a frame can ask for"},
      });
}

void add_keys(KeyList& keys, RvtParameters& p) {
  keys.insert(keys.end(),
              {
                  {"rvt.blue_flame", &p.blue_flame, flag(),
                   "A send that is posted alone and fits goes with its doorbell, in whole lines of "
                   "64 bytes; the adapter then need not fetch it",
                   "assumed: off, as lists and depth hide the fetch; mlx5 uses it for small posts"},
                  {"rvt.copy_gb_per_s", &p.copy_gb_per_s, between(0, 1'000),
                   "Rate at which a core copies a message that the driver loops back, in GB/s; 0 "
                   "takes no time",
                   "assumed: memcpy of one server core in and out of DRAM, as STREAM copy shows"},
                  {"rvt.loopback_on_wire", &p.loopback_on_wire, flag(),
                   "Queue pairs of one device talk through the adapter instead of in the driver",
                   "Linux rdmavt: the driver copies (rvt_ruc_loopback)"},
                  {"rvt.rdmavt_compat", &p.rdmavt_compat, flag(),
                   "Keep what rdmavt does where it departs from the InfiniBand specification",
                   "assumed: the specification is what other adapters follow"},
              });
}

}  // namespace hcasim::sim
