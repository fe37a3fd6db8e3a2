// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "hcasim/hw/commands.hpp"
#include "hcasim/hw/receive_queue_ports.hpp"
#include "sim/config/schema.hpp"

namespace hcasim::sim {
namespace {

constexpr Range kLatency = between(0, 100'000);
constexpr Range kInterval = between(1, 100'000);
constexpr Range kEntries = between(1, 1'048'576);
// A send WQE has at most 1024 bytes, of which the driver keeps 96 for what is before its data.
constexpr std::uint32_t kMostInlineBytes = 1024 - 96;
constexpr std::uint32_t kMostSendSge = kMostInlineBytes / 16;
constexpr std::string_view kInterval1 = "assumed: a pipeline that takes one input a cycle";
constexpr std::string_view kPacketInterval =
    "assumed: 250 M packets/s at 500 MHz, above the rate of 64-byte payloads on the wire";

void add_send_keys(KeyList& keys, hca::Parameters& p) {
  keys.insert(
      keys.end(),
      {
          {"hca.core_clock_mhz", &p.core_clock_mhz, between(1, 10'000),
           "Clock of the adapter; a cycle must be a whole number of picoseconds",
           "assumed: common for a network adapter of its time; 2 ns a cycle"},
          {"hca.ports", &p.ports, between(1, hw::kMaxPorts),
           "Network ports, each with a link as the fabric table says; cables join ports of one "
           "number, so without a switch both adapters need as many",
           "NVIDIA, ConnectX adapters: one or two ports"},
          {"hca.doorbell.latency_cycles", &p.doorbell.timing.latency_cycles, kLatency,
           "Doorbell at the BAR to its hand-over to scheduler or receive queue",
           "assumed: decode, FIFO, merge and one register"},
          {"hca.doorbell.interval_cycles", &p.doorbell.timing.interval_cycles, kInterval,
           "Cycles from one doorbell to the next", kInterval1},
          {"hca.doorbell.fifo_depth", &p.doorbell.fifo_depth, kEntries,
           "Doorbells held; a full FIFO holds up PCIe writes to the BAR",
           "assumed: a write-combining burst of each of several cores"},
          {"hca.scheduler.latency_cycles", &p.scheduler.timing.latency_cycles, kLatency,
           "Queue pair becomes ready to its choice, when nothing else is ready",
           "assumed: one cycle of arbitration and one register"},
          {"hca.scheduler.interval_cycles", &p.scheduler.timing.interval_cycles, kInterval,
           "Cycles from one choice to the next", kInterval1},
          {"hca.scheduler.burst_packets", &p.scheduler.burst_packets, kEntries,
           "Packets of one queue pair before the turn of the next",
           "assumed: 64 KiB at an MTU of 4096, so that fetches stay batched"},
          {"hca.scheduler.port_buffer_bytes", &p.scheduler.port_buffer_bytes,
           between(4'096, 16'777'216),
           "Packets made ahead of the wire, in each direction of traffic",
           "assumed: four packets of the largest MTU, enough to cover one gather"},
          {"hca.wqe_fetch.latency_cycles", &p.wqe_fetch.timing.latency_cycles, kLatency,
           "Choice of a queue pair to the DMA read of its WQEs",
           "assumed: context look-up, address arithmetic and one register"},
          {"hca.wqe_fetch.interval_cycles", &p.wqe_fetch.timing.interval_cycles, kInterval,
           "Cycles from one fetch to the next", kInterval1},
          {"hca.wqe_fetch.fetch_bytes", &p.wqe_fetch.fetch_bytes, power_of_two(64, 1024),
           "Most that one fetch reads",
           "assumed: the common maximum read request size, 8 WQEs of 64 bytes"},
          {"hca.wqe_fetch.prefetch_wqes", &p.wqe_fetch.prefetch_wqes, kEntries,
           "Send WQEs of one queue pair on chip or under way",
           "assumed: two fetches, so that one is used while the other is under way"},
          {"hca.requester.latency_cycles", &p.requester.timing.latency_cycles, kLatency,
           "WQE or payload complete to the packet at the port",
           "assumed: parsing, header building and ICRC pipeline"},
          {"hca.requester.interval_cycles", &p.requester.timing.interval_cycles, kInterval,
           "Cycles from one packet to the next", kPacketInterval},
          {"hca.requester.window_packets", &p.requester.window_packets, between(1, 8'388'607),
           "Unacknowledged packets of one queue pair",
           "assumed: covers 1 MiB at an MTU of 4096; the InfiniBand specification allows up to "
           "half of the PSN space"},
          {"hca.requester.ack_request_packets", &p.requester.ack_request_packets, kEntries,
           "An acknowledgement is asked for at least on every n-th packet of a message",
           "assumed: the InfiniBand specification leaves it open within a message"},
          {"hca.requester.gather_reads", &p.requester.gather_reads, kEntries,
           "Packets whose payload is being read from the host, all queue pairs together",
           "assumed: covers the latency of a DMA read at line rate and an MTU of 1024"},
          {"hca.requester.ack_timeout_floor", &p.requester.ack_timeout_floor, between(0, 31),
           "Least exponent T of the local ACK timeout of 4.096 us * 2^T; 0 is no floor",
           "InfiniBand specification: no floor; a ConnectX-6 was measured with 16"},
      });
}

void add_receive_keys(KeyList& keys, hca::Parameters& p) {
  keys.insert(
      keys.end(),
      {
          {"hca.responder.latency_cycles", &p.responder.timing.latency_cycles, kLatency,
           "Packet at the port to its checks passed and its data on the way to the host",
           "assumed: ICRC check, context look-up and the order of checks"},
          {"hca.responder.interval_cycles", &p.responder.timing.interval_cycles, kInterval,
           "Cycles from one packet to the next", kPacketInterval},
          {"hca.responder.buffer_packets", &p.responder.buffer_packets, kEntries,
           "Packets held while their receive WQE, context or translation is fetched",
           "assumed: 512 KiB at an MTU of 1024, 40 us of a 100 Gb/s link"},
          {"hca.responder.rx_buffer_bytes", &p.responder.rx_buffer_bytes,
           between(4'096, 1'073'741'824),
           "Payload received and not yet in host memory; what finds no room is discarded",
           "Mellanox, HowTo Tune Receive Buffers: a port buffer of 262016 bytes"},
          {"hca.responder.ack_latency_cycles", &p.responder.ack_latency_cycles, kLatency,
           "Response decided to its packet at the port", "assumed: header building and one queue"},
          {"hca.responder.atomic_latency_cycles", &p.responder.atomic_latency_cycles, kLatency,
           "Data of an atomic's read to its write", "assumed: one adder and the byte swaps"},
          {"hca.receive_queue.takes", &p.receive_queue.takes, between(1, 64),
           "Receive WQEs asked for by the responder and not yet delivered",
           "assumed: covers one fetch from the host at the rate of small messages"},
          {"hca.receive_queue.prefetch_wqes", &p.receive_queue.prefetch_wqes, between(1, 255),
           "Receive WQEs of one queue on chip or under way",
           "assumed: one fetch of 512 bytes at 64 bytes a WQE"},
          {"hca.receive_queue.tags", &p.receive_queue.tags, between(1, 64),
           "Fetches of receive WQEs outstanding", "assumed: a share of the 256 tags of the link"},
          {"hca.receive_queue.fetch_bytes", &p.receive_queue.fetch_bytes, power_of_two(512, 4096),
           "Most that one fetch reads; holds a WQE of the largest stride",
           "assumed: the common maximum read request size"},
          {"hca.receive_queue.lines", &p.receive_queue.lines, between(16, 65'534),
           "Buffer for prefetched WQEs in lines of 64 bytes; holds two WQEs of the largest stride",
           "assumed: 256 KiB of on-chip memory"},
      });
}

/// What differs from cache to cache.
struct CacheKeys {
  std::string_view entries, ways, hit_latency_cycles, entry_bytes, misses;
  std::string_view holds;
  std::string_view size_source;
};

void add_cache_keys(KeyList& keys, const CacheKeys& key, hca::Parameters::ContextCache& cache) {
  keys.insert(
      keys.end(),
      {
          {key.entries, &cache.entries, power_of_two(1, 1'048'576), key.holds,
           "assumed: a share of the 2 MB for connections and all else that a ConnectX-5 has by "
           "Kalia et al., NSDI 2019"},
          {key.ways, &cache.ways, power_of_two(1, 64),
           "Places that a context may be in; at most all",
           "assumed: conflicts are rare with eight"},
          {key.hit_latency_cycles, &cache.hit_latency_cycles, kLatency,
           "A look-up, in the pipeline of each unit that makes one",
           "assumed: counted in the latencies of the units"},
          {key.entry_bytes, &cache.entry_bytes, power_of_two(64, 4096),
           "What a miss reads from host memory", key.size_source},
          {key.misses, &cache.misses, between(1, 1024),
           "Reads of contexts outstanding; misses of one line share one",
           "assumed: not what limits an adapter of 100 Gb/s, 64 in the 600 ns of a DMA read"},
      });
}

void add_context_keys(KeyList& keys, hca::Parameters& p) {
  add_cache_keys(
      keys,
      {"hca.qpc_cache.entries", "hca.qpc_cache.ways", "hca.qpc_cache.hit_latency_cycles",
       "hca.qpc_cache.entry_bytes", "hca.qpc_cache.misses", "Contexts of queue pairs on chip",
       "Kalia et al., NSDI 2019: 375 bytes a connection on a ConnectX-5, rounded up"},
      p.qpc_cache);
  add_cache_keys(
      keys,
      {"hca.cqc_cache.entries", "hca.cqc_cache.ways", "hca.cqc_cache.hit_latency_cycles",
       "hca.cqc_cache.entry_bytes", "hca.cqc_cache.misses", "Contexts of completion queues on chip",
       "assumed: this adapter's layout of the context"},
      p.cqc_cache);
  add_cache_keys(keys,
                 {"hca.mpt_cache.entries", "hca.mpt_cache.ways", "hca.mpt_cache.hit_latency_cycles",
                  "hca.mpt_cache.entry_bytes", "hca.mpt_cache.misses",
                  "Entries of the memory protection table on chip",
                  "assumed: this adapter's layout of the entry"},
                 p.mpt_cache);
  add_cache_keys(keys,
                 {"hca.mtt_cache.entries", "hca.mtt_cache.ways", "hca.mtt_cache.hit_latency_cycles",
                  "hca.mtt_cache.entry_bytes", "hca.mtt_cache.misses",
                  "Lines of the memory translation table on chip",
                  "assumed: a cache line of the host, 8 translations"},
                 p.mtt_cache);
}

void add_service_keys(KeyList& keys, hca::Parameters& p) {
  keys.insert(
      keys.end(),
      {
          {"hca.completion.latency_cycles", &p.completion.timing.latency_cycles, kLatency,
           "Completion decided to the DMA write of its CQE",
           "assumed: context look-up, CQE building and one register"},
          {"hca.completion.interval_cycles", &p.completion.timing.interval_cycles, kInterval,
           "Cycles from one CQE to the next", kInterval1},
          {"hca.event.latency_cycles", &p.event.timing.latency_cycles, kLatency,
           "Event raised to the DMA write of its EQE",
           "assumed: context look-up, EQE building and one register"},
          {"hca.event.interval_cycles", &p.event.timing.interval_cycles, kInterval,
           "Cycles from one EQE to the next", kInterval1},
          {"hca.command.latency_cycles", &p.command.latency_cycles, kLatency,
           "Mailbox read to the command carried out", "assumed: firmware of about 100 steps"},
      });
}

void add_device_keys(KeyList& keys, hca::Parameters& p) {
  constexpr Range kObjects = between(1, 16'777'216);
  constexpr Range kQueues = between(1, 16'777'215);
  constexpr std::string_view kObjectCount = "assumed: what adapters of 100 Gb/s report";
  keys.insert(
      keys.end(),
      {
          {"hca.device.max_qp", &p.device.max_qp, kQueues, "Queue pairs of the device",
           kObjectCount},
          {"hca.device.max_qp_wr", &p.device.max_qp_wr, between(1, hw::rq::kMaxRingWrs),
           "Work requests that a queue of a queue pair may be created for",
           "assumed: within the receive-queue unit's 65534"},
          {"hca.device.max_send_sge", &p.device.max_send_sge, between(1, kMostSendSge),
           "Scatter/gather entries of a send", "assumed: what adapters of 100 Gb/s report"},
          {"hca.device.max_recv_sge", &p.device.max_recv_sge, between(1, 31),
           "Scatter/gather entries of a receive",
           "receive-queue unit: 16 + 31 * 16 bytes fill its largest stride of 512"},
          {"hca.device.max_inline_bytes", &p.device.max_inline_bytes, between(0, kMostInlineBytes),
           "Payload that a send WQE can carry itself",
           "assumed: eight blocks of 64 bytes, with the header in a ninth"},
          {"hca.device.max_cq", &p.device.max_cq, kObjects, "Completion queues of the device",
           kObjectCount},
          {"hca.device.max_cqe", &p.device.max_cqe, kObjects, "Entries of a completion queue",
           kObjectCount},
          {"hca.device.max_rd_atomic", &p.device.max_rd_atomic, between(1, 255),
           "READs and atomics of one queue pair outstanding, as target and as initiator",
           "Kalia et al., USENIX ATC 2016: best window of READs of a ConnectX-3"},
          {"hca.device.max_srq", &p.device.max_srq, kQueues, "Shared receive queues of the device",
           "assumed: one for each core of a large host, with room"},
          {"hca.device.max_mcast_grp", &p.device.max_mcast_grp, between(0, 1'048'576),
           "Multicast groups that queue pairs can be attached to", "Linux hfi1 and qib: 16384"},
          {"hca.device.max_mcast_qp_attach", &p.device.max_mcast_qp_attach, between(0, 65'536),
           "Queue pairs of one multicast group", "Linux hfi1 and qib: 16"},
      });
}

}  // namespace

void add_keys(KeyList& keys, hca::Parameters& p) {
  add_send_keys(keys, p);
  add_receive_keys(keys, p);
  add_service_keys(keys, p);
  add_context_keys(keys, p);
  add_device_keys(keys, p);
}

}  // namespace hcasim::sim
