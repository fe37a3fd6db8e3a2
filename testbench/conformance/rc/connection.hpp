// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <string>

#include "support/adapter_bench/adapter_bench.hpp"

namespace hcasim::testing {

/// One queue pair whose peer is the test, with a region for both.
struct Connection {
  static constexpr std::uint32_t kSendPsn = 100;
  static constexpr std::uint32_t kRecvPsn = 500;
  static constexpr std::uint32_t kAreaBytes = 16384;

  explicit Connection(hw::QpContext context = AdapterBench::rc_context(),
                      const BenchOptions& options = {})
      : bench(options), qp(bench.create_qp(context)) {
    area = bench.allocate(kAreaBytes, 4096);
    key = bench.create_mr(area, kAreaBytes);
    settle();
  }

  /// Lets all happen that needs no wait for a timer.
  void settle() { bench.run_for(30 * hw::kMicrosecond); }

  // What the peer does.
  void arrive(const PeerPacket& packet) { bench.arrive(qp, packet); }
  void arrive_and_settle(const PeerPacket& packet) {
    arrive(packet);
    settle();
  }
  PeerPacket send(std::uint32_t psn, std::size_t bytes = 32,
                  hw::BthOpcode opcode = hw::BthOpcode::kRcSendOnly) const {
    return AdapterBench::request(opcode, psn, pattern(bytes));
  }
  PeerPacket write(std::uint32_t psn, std::uint64_t offset, std::size_t bytes,
                   hw::BthOpcode opcode = hw::BthOpcode::kRcWriteOnly,
                   std::uint32_t total = 0) const {
    PeerPacket packet = AdapterBench::request(opcode, psn, pattern(bytes, psn));
    packet.headers.reth = {area + offset, key,
                           total != 0 ? total : static_cast<std::uint32_t>(bytes)};
    return packet;
  }
  PeerPacket read(std::uint32_t psn, std::uint64_t offset, std::uint32_t bytes) const {
    PeerPacket packet = AdapterBench::request(hw::BthOpcode::kRcReadRequest, psn);
    packet.headers.reth = {area + offset, key, bytes};
    return packet;
  }
  PeerPacket fetch_add(std::uint32_t psn, std::uint64_t offset, std::uint64_t add) const {
    PeerPacket packet = AdapterBench::request(hw::BthOpcode::kRcFetchAdd, psn);
    packet.headers.atomic = {area + offset, key, add, 0};
    return packet;
  }
  PeerPacket compare_swap(std::uint32_t psn, std::uint64_t offset, std::uint64_t compare,
                          std::uint64_t swap) const {
    PeerPacket packet = AdapterBench::request(hw::BthOpcode::kRcCompareSwap, psn);
    packet.headers.atomic = {area + offset, key, swap, compare};
    return packet;
  }

  // What the owner of the queue pair does.
  SendWr inline_wr(hw::WrOpcode opcode = hw::WrOpcode::kRdmaWrite, std::size_t bytes = 16) const {
    SendWr wr;
    wr.opcode = opcode;
    wr.inline_data = pattern(bytes);
    wr.remote_addr = 0x10000;
    wr.rkey = 0x99;
    return wr;
  }
  SendWr gather_wr(hw::WrOpcode opcode, std::uint32_t bytes, std::uint64_t offset = 0) const {
    SendWr wr;
    wr.opcode = opcode;
    wr.sges = {{area + offset, bytes, key}};
    wr.remote_addr = 0x10000;
    wr.rkey = 0x99;
    return wr;
  }
  void post(const SendWr& wr, int count = 1) {
    for (int i = 0; i < count; ++i) bench.post_send(qp, wr);
    bench.ring_send(qp);
    settle();
  }
  void post_receives(int count, std::uint32_t bytes = 1024) {
    for (int i = 0; i < count; ++i) {
      bench.post_recv(qp, next_wr_id++, {{area, bytes, key}});
    }
    bench.ring_recv(qp);
    settle();
  }
  std::vector<hw::Cqe> sends() { return bench.poll(qp.send_cq); }
  std::vector<hw::Cqe> receives() { return bench.poll(qp.recv_cq); }
  std::vector<SentPacket> sent() { return bench.sent(); }
  hw::QpState state() { return bench.query(qp).state; }
  std::uint64_t count(const std::string& unit, const std::string& name) const {
    return bench.counter(unit, name);
  }

  AdapterBench bench;
  BenchQp qp;
  std::uint64_t area = 0;
  std::uint32_t key = 0;
  std::uint64_t next_wr_id = 1;
};

using Statuses = std::vector<hw::WcStatus>;
using Psns = std::vector<std::uint32_t>;
using Opcodes = std::vector<hw::BthOpcode>;

/// A NAK of this kind, and no packet but that.
inline void expect_nak(const std::vector<SentPacket>& sent, std::uint32_t psn, hw::NakCode code) {
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].headers.opcode, hw::BthOpcode::kRcAcknowledge);
  EXPECT_EQ(sent[0].headers.psn, psn);
  EXPECT_EQ(sent[0].headers.aeth.syndrome, hw::nak_syndrome(code));
}

}  // namespace hcasim::testing
