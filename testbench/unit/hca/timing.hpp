// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include "support/adapter_bench/adapter_bench.hpp"

namespace hcasim::testing {

/// Runs to a time that lies between two clock edges, well after all that was set up.
inline Time quiet_start(AdapterBench& bench) {
  bench.run_idle();
  const Time start = (bench.now() / hw::kMicrosecond + 1) * hw::kMicrosecond + 700;
  bench.run_to(start);
  return start;
}

/// `happened` becomes true at `time`, and not a picosecond before.
template <typename P>
void expect_at(AdapterBench& bench, Time time, P&& happened) {
  bench.run_to(time - 1);
  EXPECT_FALSE(happened()) << "earlier than " << time << " ps";
  bench.run_to(time);
  EXPECT_TRUE(happened()) << "later than " << time << " ps";
}

inline SendWr inline_send(std::size_t bytes = 16) {
  SendWr wr;
  wr.inline_data = pattern(bytes);
  return wr;
}

/// A WRITE: needs no credit of the peer.
inline SendWr inline_write(std::size_t bytes = 16) {
  SendWr wr = inline_send(bytes);
  wr.opcode = hw::WrOpcode::kRdmaWrite;
  return wr;
}

inline SendWr read_wr(std::uint64_t local, std::uint32_t lkey, std::uint32_t bytes) {
  SendWr wr;
  wr.opcode = hw::WrOpcode::kRdmaRead;
  wr.sges = {{local, bytes, lkey}};
  wr.remote_addr = 0x1000;
  wr.rkey = 1;
  return wr;
}

/// A WRITE of the peer that is one packet.
inline PeerPacket write_only(std::uint32_t psn, std::uint64_t address, std::uint32_t rkey,
                             std::size_t bytes) {
  PeerPacket packet = AdapterBench::request(hw::BthOpcode::kRcWriteOnly, psn, pattern(bytes));
  packet.headers.reth = {address, rkey, static_cast<std::uint32_t>(bytes)};
  return packet;
}

inline PeerPacket read_request(std::uint32_t psn, std::uint64_t address, std::uint32_t rkey,
                               std::uint32_t bytes) {
  PeerPacket packet = AdapterBench::request(hw::BthOpcode::kRcReadRequest, psn);
  packet.headers.reth = {address, rkey, bytes};
  return packet;
}

inline PeerPacket fetch_add(std::uint32_t psn, std::uint64_t address, std::uint32_t rkey,
                            std::uint64_t add) {
  PeerPacket packet = AdapterBench::request(hw::BthOpcode::kRcFetchAdd, psn);
  packet.headers.atomic = {address, rkey, add, 0};
  return packet;
}

}  // namespace hcasim::testing
