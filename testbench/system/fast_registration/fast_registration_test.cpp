// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Traces that register and invalidate memory by work requests, from the line to the counts.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "hcasim/sim/run.hpp"
#include "sim/import/trace_from_capture.hpp"
#include "support/monitored_run.hpp"
#include "support/protocol_monitor/expect_clean.hpp"

namespace hcasim::sim {
namespace {

/// A folder that goes away with its trace.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "hcasim-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path trace() const { return path_ / "x.trace"; }

 private:
  std::filesystem::path path_;
};

RunResult run(const Folder& folder) {
  RunOptions options;
  options.trace = folder.trace().string();
  support::MonitoredRun watched;
  options.observer = &watched;
  RunResult result = run_trace(options, load_config({}));
  monitor::expect_clean(watched.monitor());
  return result;
}

RunResult run_text(const char* text) {
  const Folder folder;
  std::ofstream(folder.trace()) << text;
  return run(folder);
}

OpcodeStatistics of(const NodeStatistics& node, hw::WrOpcode opcode) {
  for (const OpcodeStatistics& found : node.opcodes) {
    if (found.opcode == opcode) return found;
  }
  return {};
}

// b opens its region three times and closes it twice by the peer and once itself.
constexpr const char* kByHand = R"(hcasim-trace 1
connect a.q b.q
b alloc_mr f length=20000

a post_recv q length=8 label=first
a post_recv q length=8 label=second
a post_recv q length=64
a post_recv q length=8 label=closed
b post_recv q length=64 label=gone
b post_recv q length=64 label=gone_again

b post_send q REG_MR mr=f access=local_write,remote_write unsignaled more
b post_send q SEND length=8
a post_send q RDMA_WRITE length=20000 remote=f:0 after=first more
a post_send q SEND_WITH_INV length=64 invalidate=f

b post_send q REG_MR mr=f length=8192 access=local_write,remote_write iova=0x10000 after=gone more
b post_send q SEND length=8
a post_send q RDMA_WRITE length=8000 remote=f:192 after=second more
a post_send q SEND_WITH_INV length=64 invalidate=f

b post_send q REG_MR mr=f access=none after=gone_again more
b post_send q SEND sge=f:19936:64 more
b post_send q LOCAL_INV invalidate=f more
b post_send q SEND length=8
a post_send q RDMA_WRITE length=8 remote=f:0 after=closed
)";

TEST(FastRegistration, HandWrittenTrace) {
  const RunResult result = run_text(kByHand);
  EXPECT_EQ(result.posts_refused, 0u);
  ASSERT_EQ(result.statistics.nodes.size(), 2u);
  const NodeStatistics& a = result.statistics.nodes[0];
  const NodeStatistics& b = result.statistics.nodes[1];
  EXPECT_EQ(of(a, hw::WrOpcode::kSendWithInv).completed, 2u);
  const OpcodeStatistics writes = of(a, hw::WrOpcode::kRdmaWrite);
  EXPECT_EQ(writes.completed, 2u);
  EXPECT_EQ(writes.bytes, 28'000u);
  ASSERT_EQ(writes.errors.size(), 1u);
  EXPECT_EQ(writes.errors[0].status, hw::WcStatus::kRemAccessErr);
  EXPECT_EQ(b.local_operations, 4u);
  EXPECT_EQ(b.local_operations_ended, 0u);
  EXPECT_EQ(of(b, hw::WrOpcode::kSend).completed, 4u);
  EXPECT_EQ(b.receives_completed, 2u);
}

// A key is closed to the peer before its first registration and beyond what was registered.
TEST(FastRegistration, RegionEndsWhereItWasRegistered) {
  const RunResult result = run_text(R"(hcasim-trace 1
connect a.q b.q
b alloc_mr f length=20000
a post_recv q length=8 label=open
b post_send q REG_MR mr=f length=100
b post_send q SEND length=8
a post_send q RDMA_WRITE length=100 remote=f:0 after=open
a post_send q RDMA_WRITE length=100 remote=f:1
)");
  const OpcodeStatistics writes = of(result.statistics.nodes[0], hw::WrOpcode::kRdmaWrite);
  EXPECT_EQ(writes.completed, 1u);
  EXPECT_EQ(writes.failed, 1u);
}

// The first of two REG_MRs in one list opens two pages at an address of its own.
TEST(FastRegistration, EachOfOneListHasItsOwnMapping) {
  const RunResult result = run_text(R"(hcasim-trace 1
connect a.q b.q
b alloc_mr f length=20000
a post_recv q length=8 label=open
a post_recv q length=8 label=closed
b post_send q REG_MR mr=f length=8192 iova=0x10000 more
b post_send q SEND sge=f:0:8 more
b post_send q REG_MR mr=f length=100 iova=0x20000 more
b post_send q SEND length=8
a post_send q RDMA_WRITE length=100 remote=f:0 after=closed
a post_send q RDMA_WRITE length=101 remote=f:0 after=closed
)");
  const NodeStatistics& b = result.statistics.nodes[1];
  EXPECT_EQ(of(b, hw::WrOpcode::kSend).completed, 2u);
  const OpcodeStatistics writes = of(result.statistics.nodes[0], hw::WrOpcode::kRdmaWrite);
  EXPECT_EQ(writes.completed, 1u);
  EXPECT_EQ(writes.failed, 1u);
}

TEST(FastRegistration, PostsThatTheDriverRefuses) {
  const RunResult result = run_text(R"(hcasim-trace 1
connect a.q b.q
b alloc_mr f length=4096
b post_send q SEND sge=f:0:8
b post_send q LOCAL_INV invalidate=mr
b post_send q REG_MR mr=mr
b post_send q REG_MR mr=f length=4097
b post_send q REG_MR mr=f access=remote_read
b post_send q RDMA_READ sge=f:0:8 remote=mr:0
b post_send q LOCAL_INV invalidate=mr more
b post_send q REG_MR mr=f
b post_send q LOCAL_INV invalidate=f
)");
  EXPECT_EQ(result.posts_refused, 7u);  // with it what is behind it in its list
  EXPECT_EQ(result.statistics.nodes[1].local_operations, 2u);
}

/// A target that answers each command by writing to the key that came with it and closing it.
CaptureAnalysis storage(std::uint32_t commands) {
  constexpr hw::Time kStep = 5 * hw::kMicrosecond;
  CaptureAnalysis analysis;
  const auto end = [](std::uint8_t last) -> Endpoint {
    return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, last}, 17};
  };
  std::uint32_t psn[2] = {100, 200};
  const auto add = [&](hw::WrOpcode opcode, std::uint64_t bytes,
                       unsigned from) -> CapturedMessage& {
    CapturedMessage record;
    record.opcode = opcode;
    record.bytes = bytes;
    record.requester = end(static_cast<std::uint8_t>(1 + from));
    record.responder = end(static_cast<std::uint8_t>(2 - from));
    record.outcome = MessageOutcome::kCompleted;
    record.first_psn = psn[from]++;
    record.first_packet = static_cast<hw::Time>(analysis.records.size()) * kStep;
    record.completed = record.accepted = record.first_packet + kStep / 2;
    analysis.records.push_back(record);
    return analysis.records.back();
  };
  for (std::uint32_t i = 0; i < commands; ++i) {
    add(hw::WrOpcode::kSend, 64, 0);
    CapturedMessage& write = add(hw::WrOpcode::kRdmaWrite, 512, 1);
    write.rkey = 7;
    write.remote_addr = 0x10000 + 512 * (i % 3);
    add(hw::WrOpcode::kSendWithInv, 16, 1).invalidate_rkey = 7;
  }
  return analysis;
}

void replay_capture(TimingPolicy timing) {
  constexpr std::uint32_t kCommands = 50;
  const Folder folder;
  ImportOptions options;
  options.timing = timing;
  options.max_send_wr = options.max_recv_wr = 16;
  const ImportResult made = trace_from_capture(storage(kCommands), options, folder.trace());
  EXPECT_EQ(made.sends, 3 * kCommands);
  const RunResult result = run(folder);
  EXPECT_EQ(result.posts_refused, 0u);
  EXPECT_EQ(result.statistics.messages_completed, 3 * kCommands);
  EXPECT_EQ(result.statistics.messages_failed, 0u);
  EXPECT_EQ(result.statistics.nodes[0].local_operations, kCommands);
  EXPECT_EQ(of(result.statistics.nodes[1], hw::WrOpcode::kSendWithInv).completed, kCommands);
}

TEST(FastRegistration, CaptureIsReplayedAtItsTimes) {
  replay_capture(TimingPolicy::kCaptured);
}

TEST(FastRegistration, CaptureIsReplayedByCauses) {
  replay_capture(TimingPolicy::kAsap);
}

}  // namespace
}  // namespace hcasim::sim
