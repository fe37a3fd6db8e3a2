// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace hcasim::hca {

/// Latency and initiation interval of a unit in core-clock cycles: a value that enters in cycle n
/// leaves in cycle n + latency; the next one may enter interval cycles after it.
struct StageTiming {
  std::uint32_t latency_cycles;
  std::uint32_t interval_cycles;

  /// The same with more latency.
  StageTiming with_latency(std::uint32_t more) const {
    return {latency_cycles + more, interval_cycles};
  }
};

/// Parameters of the adapter, one block a unit. Sources, units, ranges: configuration schema.
struct Parameters {
  std::uint32_t core_clock_mhz = 500;
  std::uint32_t ports = 1;  ///< 1..hw::kMaxPorts

  struct Doorbell {
    StageTiming timing{4, 1};
    std::uint32_t fifo_depth = 64;  ///< entries; a full FIFO holds up PCIe
  } doorbell;

  struct Scheduler {
    StageTiming timing{2, 1};
    std::uint32_t burst_packets = 16;         ///< packets of one QP before the next QP's turn
    std::uint32_t port_buffer_bytes = 16384;  ///< packets made ahead of the wire, each direction
  } scheduler;

  struct WqeFetch {
    StageTiming timing{4, 1};
    std::uint32_t fetch_bytes = 512;   ///< at most this much in one read
    std::uint32_t prefetch_wqes = 16;  ///< WQEs of one QP on chip or under way
  } wqe_fetch;

  struct Requester {
    StageTiming timing{8, 2};
    std::uint32_t window_packets = 256;     ///< unacknowledged packets of one QP
    std::uint32_t ack_request_packets = 8;  ///< AckReq at least on every n-th packet of a message
    std::uint32_t gather_reads = 64;        ///< packets whose payload is being read, all QPs
    std::uint32_t ack_timeout_floor = 0;    ///< least local ACK timeout exponent applied, 0: none
  } requester;

  struct Responder {
    StageTiming timing{8, 2};
    std::uint32_t buffer_packets = 512;       ///< packets held while something is fetched for them
    std::uint32_t rx_buffer_bytes = 262016;   ///< payload that waits for PCIe
    std::uint32_t ack_latency_cycles = 4;     ///< response decided to packet handed to the port
    std::uint32_t atomic_latency_cycles = 6;  ///< between the read and the write of an atomic
  } responder;

  struct ReceiveQueue {
    std::uint32_t takes = 16;
    std::uint32_t prefetch_wqes = 8;
    std::uint32_t tags = 32;
    std::uint32_t fetch_bytes = 512;
    std::uint32_t lines = 4096;  ///< of 64 bytes
  } receive_queue;

  struct Completion {
    StageTiming timing{4, 1};
  } completion;

  struct ContextCache {
    std::uint32_t entries;
    std::uint32_t ways = 8;
    std::uint32_t hit_latency_cycles = 0;  ///< in the pipeline of each unit that looks up
    std::uint32_t entry_bytes = 64;        ///< read by a miss
    std::uint32_t misses = 64;             ///< outstanding
  };
  ContextCache qpc_cache{.entries = 2048, .entry_bytes = 512};
  ContextCache cqc_cache{.entries = 4096};
  ContextCache mpt_cache{.entries = 4096};
  ContextCache mtt_cache{.entries = 8192};

  struct Event {
    StageTiming timing{4, 1};
  } event;

  struct Command {
    std::uint32_t latency_cycles = 100;
  } command;

  struct Device {  ///< limits reported to the driver
    std::uint32_t max_qp = 262144;
    std::uint32_t max_qp_wr = 0x3fff;
    std::uint32_t max_send_sge = 30;
    std::uint32_t max_recv_sge = 31;
    std::uint32_t max_inline_bytes = 512;
    std::uint32_t max_cq = 131072;
    std::uint32_t max_cqe = 0x2fffff;
    std::uint32_t max_rd_atomic = 16;  ///< responder resources of one QP
    std::uint32_t max_srq = 1024;
    std::uint32_t max_mcast_grp = 16384;
    std::uint32_t max_mcast_qp_attach = 16;
  } device;
};

}  // namespace hcasim::hca
