// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/config/schema.hpp"

namespace hcasim::sim {
namespace {

constexpr std::string_view kTlpBytes =
    "PCI Express Base Specification: framing, sequence number and LCRC 8 bytes, the rest header; "
    "counted so by Neugebauer et al., SIGCOMM 2018";
constexpr std::string_view kDllpTables =
    "PCI Express Base Specification, tables 3-7 to 3-9, by generation, width and MPS";
constexpr std::string_view kCredits =
    "assumed: enough to cover the round trip of a Gen4 x16 link at 256-byte payloads";
constexpr std::string_view kReadLatency =
    "Neugebauer et al., SIGCOMM 2018: a DMA read of 64 bytes on a Xeon E5 took 520 ns at least, "
    "547 ns in the median, 947 ns at most; of this 340 ns are assumed to be link and adapter";

constexpr std::string_view kSound = "assumed: a machine without faults";

}  // namespace

void add_keys(KeyList& keys, pcie::Parameters& p) {
  constexpr Range kTime = between(0, 1'000'000);
  constexpr Range kCreditCount = between(1, 1'000'000);
  keys.insert(
      keys.end(),
      {
          {"pcie.generation", &p.generation, between(1, 7),
           "Generation of the link: rate of a lane and its encoding",
           "assumed: the slot in which 100 Gb/s adapters are commonly found"},
          {"pcie.width", &p.width, power_of_two(1, 16), "Lanes of the link",
           "assumed: the slot in which 100 Gb/s adapters are commonly found"},
          {"pcie.mps_bytes", &p.mps_bytes, power_of_two(128, 4096),
           "Maximum payload size of a TLP (MPS)", "assumed: common setting of server platforms"},
          {"pcie.mrrs_bytes", &p.mrrs_bytes, power_of_two(128, 4096),
           "Maximum read request size (MRRS)", "assumed: common setting of server platforms"},
          {"pcie.rcb_bytes", &p.rcb_bytes, power_of_two(64, 128),
           "Read completion boundary (RCB): where a completion may be cut",
           "PCI Express Base Specification: 64 or 128 bytes; 64 is assumed, as the finer one"},
          {"pcie.completion_bytes", &p.completion_bytes, power_of_two(64, 4096),
           "Completions of one read are combined by the root complex up to this size",
           "Neugebauer et al., SIGCOMM 2018, pcie-model: one completion per MPS"},
          {"pcie.mwr_overhead_bytes", &p.mwr_overhead_bytes, between(0, 64),
           "Bytes of a memory write TLP beside its payload, 64-bit address, no ECRC", kTlpBytes},
          {"pcie.mrd_overhead_bytes", &p.mrd_overhead_bytes, between(0, 64),
           "Bytes of a memory read request TLP, 64-bit address, no ECRC", kTlpBytes},
          {"pcie.cpld_overhead_bytes", &p.cpld_overhead_bytes, between(0, 64),
           "Bytes of a completion TLP beside its payload, no ECRC", kTlpBytes},
          {"pcie.ack_limit_bytes", &p.ack_limit_bytes, between(0, 65536),
           "TLP bytes for which one ACK DLLP is due, at least 32; 0 takes the value of the "
           "specification",
           kDllpTables},
          {"pcie.fc_limit_bytes", &p.fc_limit_bytes, between(0, 65536),
           "TLP bytes for which one flow-control DLLP is due, at least 32; 0 takes the value of "
           "the "
           "specification",
           kDllpTables},
          {"pcie.tags", &p.tags, between(1, 1024), "Reads that the adapter may have outstanding",
           "PCI Express Base Specification: 8-bit tag field"},
          {"pcie.posted_header_credits", &p.posted_header_credits, kCreditCount,
           "Posted TLPs that a receiver can hold", kCredits},
          {"pcie.posted_data_credits", &p.posted_data_credits, kCreditCount,
           "Payload of posted TLPs that a receiver can hold, in units of 16 bytes", kCredits},
          {"pcie.nonposted_header_credits", &p.nonposted_header_credits, kCreditCount,
           "Read requests that a receiver can hold", kCredits},
          {"pcie.propagation_ns", &p.propagation_ns, kTime,
           "PHY, data-link layer and board, one way",
           "assumed: a short trace and the pipelines of two PHYs"},
          {"pcie.write_latency_ns", &p.write_latency_ns, kTime,
           "Root complex: last byte of a posted write to its visibility in memory",
           "assumed: write into the last-level cache, a fraction of a read's latency"},
          {"pcie.read_latency_min_ns", &p.read_latency_min_ns, kTime,
           "Root complex: read request to data, least", kReadLatency},
          {"pcie.read_latency_median_ns", &p.read_latency_median_ns, kTime,
           "Root complex: read request to data, median", kReadLatency},
          {"pcie.read_latency_max_ns", &p.read_latency_max_ns, kTime,
           "Root complex: read request to data, most", kReadLatency},
          {"pcie.faults.read_error", &p.faults.read_error, between(0, 1),
           "Probability that a DMA read is answered by an error completion (UR)", kSound},
          {"pcie.faults.read_error_after", &p.faults.read_error_after, between(0, 4e9),
           "DMA reads since the beginning of the run that are spared errors", kSound},
          {"pcie.faults.slow_read", &p.faults.slow_read, between(0, 1),
           "Probability that a DMA read takes longer", kSound},
          {"pcie.faults.slow_read_ns", &p.faults.slow_read_ns, kTime, "How much longer it takes",
           "assumed: long beside a read, short beside an ACK timeout"},
      });
}

}  // namespace hcasim::sim
