// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hcasim/hw/time.hpp"

namespace hcasim::rvt {

/// CPU time that data verbs charge. MMIO costs are charged by the port.
struct CpuCosts {
  hw::Time post_send = 0;  ///< ps for each send work request
  hw::Time post_recv = 0;  ///< ps for each receive work request
  hw::Time poll_cqe = 0;   ///< ps for each completion taken
};

/// How the driver is set up: members of rdmavt's structure of this name keep their names.
struct rvt_driver_params {
  const char* name = "hcasim0";             ///< name of the device; must outlive it
  CpuCosts costs;                           ///< CPU time of data verbs
  bool rdmavt_compat = false;               ///< rdmavt's behaviour where it departs from the spec.
  bool blue_flame = false;                  ///< a send alone goes with its doorbell, if it fits
  bool loopback_on_wire = false;            ///< QPs of one device talk through the adapter
  double copy_gb_per_s = 0;                 ///< rate of a copy by the CPU in loopback; 0: no time
  std::uint32_t qpn_start = 0;              ///< QPN before the first one
  std::uint32_t qpn_inc = 1;                ///< step of QPNs, before qos_shift
  std::uint32_t qos_shift = 1;              ///< low QPN bits left to the class of service
  std::uint32_t qpn_res_start = 0x80'0000;  ///< first reserved QPN
  std::uint32_t qpn_res_end = 0x81'ffff;    ///< last reserved QPN
  std::uint32_t qp_table_size = 256;        ///< buckets of the QP table, a power of two
  std::uint32_t lkey_table_size = 16;       ///< bits of a key's index, 1..23
  std::uint32_t reserved_operations = 0;    ///< send slots set aside for reserved operations
  std::uint32_t max_pd = 0xffff;            ///< protection domains
  std::uint32_t max_ah = 0xffff;            ///< address handles
  std::uint32_t max_rdma_atomic = 16;       ///< READs and atomics a QP answers at a time, at most
  std::uint32_t npkeys = 1;                 ///< entries of a port's P_Key table
  std::uint32_t gid_table_len = 256;        ///< entries of a port's GID table
  std::uint32_t num_comp_vectors = 1;       ///< event queues for completions, 1..63
  std::uint32_t eq_entries = 4096;          ///< entries of each event queue
  std::uint32_t page_shift = 12;  ///< log2 bytes of the pages regions are mapped by, 12..30
  hw::Time command_timeout = 10 * hw::kSecond;  ///< a command takes longer: the device has failed
  hw::Time dereg_timeout = 5 * hw::kSecond;     ///< rvt_dereg_mr gives up with -EBUSY
};

}  // namespace hcasim::rvt
