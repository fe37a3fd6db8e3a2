// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Small captures made by hand: order, causes, refusals, regions, what is left out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/import/replay_regions.hpp"
#include "support/file_size_limit.hpp"
#include "trace_file.hpp"

namespace hcasim::sim {
namespace {

using hw::kMicrosecond;
using Lines = std::vector<std::string>;

Endpoint host(std::uint8_t last, std::uint32_t qpn = 17) {
  return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, last}, qpn};
}

/// A capture under construction; messages take 1 us, one after the other unless told otherwise.
struct Capture {
  CaptureAnalysis analysis;

  CapturedMessage& add(hw::WrOpcode opcode, std::uint64_t bytes, Endpoint from = host(1),
                       Endpoint to = host(2)) {
    CapturedMessage record;
    record.opcode = opcode;
    record.bytes = bytes;
    record.requester = from;
    record.responder = to;
    record.outcome = MessageOutcome::kCompleted;
    record.first_frame = analysis.records.size() + 1;
    record.first_psn = static_cast<std::uint32_t>(100 + analysis.records.size());
    record.first_packet = static_cast<hw::Time>(analysis.records.size() + 5) * kMicrosecond;
    record.completed = record.first_packet + kMicrosecond / 2;
    record.accepted = record.completed;
    analysis.records.push_back(record);
    return analysis.records.back();
  }
  CapturedMessage& refuse(hw::WrOpcode opcode, std::uint64_t bytes, hw::NakCode code) {
    CapturedMessage& record = add(opcode, bytes);
    record.outcome = MessageOutcome::kRefused;
    record.refused_with = code;
    record.completed.reset();
    record.accepted.reset();
    return record;
  }
};

test::TraceFile convert(const Capture& capture, const ImportOptions& options = {}) {
  return {capture.analysis, options};
}

TEST(Conversion, SendsGoAtTheirCapturedTimes) {
  Capture capture;
  capture.add(hw::WrOpcode::kSend, 10);
  capture.add(hw::WrOpcode::kSendWithImm, 20).imm = 0xbeef;
  capture.analysis.records.back().solicited = true;
  capture.add(hw::WrOpcode::kSend, 0, host(2), host(1));
  const auto trace = convert(capture);
  EXPECT_EQ(trace.lines("post_send"),
            (Lines{"host1 post_send qp1 SEND length=10 at=100000ns",
                   "host1 post_send qp1 SEND_WITH_IMM length=20 imm=0xbeef at=101000ns solicited",
                   "host2 post_send qp1 SEND length=0 at=102000ns"}));
  EXPECT_EQ(trace.lines("post_recv"),
            (Lines{"host2 post_recv qp1 length=20", "host2 post_recv qp1 length=20",
                   "host1 post_recv qp1 length=0"}));
  EXPECT_NE(trace.text.find("# host2 is 10.0.0.2\nnode host2\n"), std::string::npos);
  EXPECT_NE(trace.text.find("psn=100,102 "), std::string::npos);
}

TEST(Conversion, NodesAreNumberedByAddress) {
  Capture capture;
  capture.add(hw::WrOpcode::kSend, 1, host(9), host(3));
  capture.add(hw::WrOpcode::kSend, 1, host(4), host(3, 18));
  const auto trace = convert(capture);
  EXPECT_EQ(trace.nodes, (Lines{"host1", "host2", "host3"}));
  EXPECT_EQ(trace.lines("post_send").front().substr(0, 19), "host3 post_send qp1");
  EXPECT_EQ(trace.lines("post_send").back().substr(0, 19), "host2 post_send qp2");
}

TEST(Conversion, OrderOfPsnsGoesBeforeOrderOfFirstSight) {
  Capture capture;
  capture.add(hw::WrOpcode::kSend, 1).first_psn = 0xfffffe;
  capture.add(hw::WrOpcode::kSend, 3).first_psn = 0;
  capture.add(hw::WrOpcode::kSend, 2).first_psn = 0xffffff;
  capture.add(hw::WrOpcode::kSend, 4).first_psn = 1;
  const auto trace = convert(capture);
  EXPECT_EQ(trace.lines("post_send"), (Lines{"host1 post_send qp1 SEND length=1 at=100000ns",
                                             "host1 post_send qp1 SEND length=2 at=102000ns",
                                             "host1 post_send qp1 SEND length=3 at=102000ns",
                                             "host1 post_send qp1 SEND length=4 at=103000ns"}));
}

TEST(Conversion, JumpOfPsnsIsNoDisorder) {
  Capture capture;
  capture.add(hw::WrOpcode::kSend, 1).first_psn = 5'000'000;
  capture.add(hw::WrOpcode::kSend, 2).first_psn = 3;
  capture.add(hw::WrOpcode::kSend, 3).first_psn = 4;
  const auto trace = convert(capture);
  EXPECT_NE(trace.lines("post_send")[0].find("length=1"), std::string::npos);
  EXPECT_NE(trace.lines("post_send")[2].find("length=3"), std::string::npos);
}

TEST(Conversion, ReceivesAreWrittenAQueueAhead) {
  Capture capture;
  for (int i = 0; i < 5; ++i) capture.add(hw::WrOpcode::kSend, 8);
  ImportOptions options;
  options.max_recv_wr = 2;
  const auto trace = convert(capture, options);
  std::string order;
  for (const Operation& operation : trace.operations) {
    if (operation.verb == Verb::kPostRecv) order += 'r';
    if (operation.verb == Verb::kPostSend) order += 's';
  }
  EXPECT_EQ(order, "rrsrsrsrss");
}

TEST(Conversion, RdmaKeepsTheLayoutOfItsRegion) {
  Capture capture;
  const auto rdma = [&](hw::WrOpcode opcode, std::uint64_t address, std::uint32_t rkey) {
    CapturedMessage& record = capture.add(opcode, 64);
    record.remote_addr = address;
    record.rkey = rkey;
  };
  rdma(hw::WrOpcode::kRdmaWrite, 0x7f0000001010, 1);
  rdma(hw::WrOpcode::kRdmaRead, 0x7f0000003ff0, 1);
  rdma(hw::WrOpcode::kRdmaWrite, 0x100, 2);
  const auto trace = convert(capture);
  EXPECT_EQ(trace.lines("reg_mr"), (Lines{"host2 reg_mr r1 length=16384 access=all",
                                          "host2 reg_mr r2 length=4096 access=all"}));
  EXPECT_EQ(trace.lines("post_send"),
            (Lines{"host1 post_send qp1 RDMA_WRITE length=64 remote=r1:16 at=100000ns",
                   "host1 post_send qp1 RDMA_READ length=64 remote=r1:12272 at=101000ns",
                   "host1 post_send qp1 RDMA_WRITE length=64 remote=r2:256 at=102000ns"}));
}

TEST(Conversion, RegionOfWildAddressesIsFolded) {
  Capture capture;
  for (const std::uint64_t address : {std::uint64_t{0x1008}, ~std::uint64_t{0xff}}) {
    CapturedMessage& record = capture.add(hw::WrOpcode::kRdmaWrite, 4000);
    record.remote_addr = address;
  }
  const auto trace = convert(capture);
  EXPECT_EQ(trace.lines("reg_mr"), (Lines{"host2 reg_mr r1 length=8192 access=all"}));
  EXPECT_NE(trace.lines("post_send")[0].find("remote=r1:8 "), std::string::npos);
  EXPECT_NE(trace.lines("post_send")[1].find("remote=r1:3840 "), std::string::npos);
}

TEST(Conversion, InvalidatedKeyThatIsUsedAgainIsAnotherRegion) {
  Capture capture;
  for (int i = 0; i < 2; ++i) {
    capture.add(hw::WrOpcode::kRdmaWrite, 8).rkey = 7;
    capture.add(hw::WrOpcode::kSendWithInv, 8).invalidate_rkey = 7;
  }
  const auto trace = convert(capture);
  const Lines sends = trace.lines("post_send");
  EXPECT_EQ(trace.lines("alloc_mr"),
            (Lines{"host2 alloc_mr r1 length=4096", "host2 alloc_mr r2 length=4096"}));
  EXPECT_TRUE(trace.lines("reg_mr").empty());
  EXPECT_EQ(sends[0], "host2 post_send qp1 REG_MR access=all mr=r1");
  EXPECT_EQ(sends[1], "host2 post_send qp1 REG_MR access=all mr=r2");
  EXPECT_NE(sends[2].find("remote=r1:"), std::string::npos);
  EXPECT_NE(sends[3].find("invalidate=r1 "), std::string::npos);
  EXPECT_NE(sends[4].find("remote=r2:"), std::string::npos);
  EXPECT_NE(sends[5].find("invalidate=r2 "), std::string::npos);
  EXPECT_EQ(trace.result.sends, 4U);
}

// With more of them than regions, one is registered again once its invalidation was received.
TEST(Conversion, InvalidatedRegionIsRegisteredAgain) {
  Capture capture;
  for (std::size_t i = 0; i <= RegionMap::kAhead; ++i) {
    capture.add(hw::WrOpcode::kSendWithInv, 8 * i).invalidate_rkey = 7;
  }
  CapturedMessage& last = capture.add(hw::WrOpcode::kRdmaWrite, 5000);
  last.rkey = 7;
  const auto trace = convert(capture);
  EXPECT_EQ(trace.lines("alloc_mr").size(), RegionMap::kAhead);
  EXPECT_EQ(trace.lines("alloc_mr")[1], "host2 alloc_mr r2 length=8192");
  const Lines sends = trace.lines("post_send");
  const std::size_t first = RegionMap::kAhead;  // behind the first registrations
  EXPECT_NE(sends[first].find("invalidate=r1 "), std::string::npos);
  EXPECT_EQ(sends[first + 1], "host2 post_send qp1 REG_MR access=all mr=r1 after=l1");
  EXPECT_NE(sends[first + 2].find("invalidate=r2 "), std::string::npos);
  EXPECT_EQ(sends[first + 3], "host2 post_send qp1 REG_MR access=all mr=r2 after=l2");
  EXPECT_NE(sends[sends.size() - 2].find("invalidate=r1 "), std::string::npos);
  EXPECT_NE(sends.back().find("remote=r2:"), std::string::npos);
  EXPECT_NE(trace.lines("post_recv")[0].find(" label=l1"), std::string::npos);
}

TEST(Conversion, AtomicsCarryTheirOperands) {
  Capture capture;
  CapturedMessage& swap = capture.add(hw::WrOpcode::kAtomicCmpAndSwp, 8);
  swap.compare = 1;
  swap.swap_add = 2;
  capture.add(hw::WrOpcode::kAtomicFetchAndAdd, 8).swap_add = 3;
  const Lines sends = convert(capture).lines("post_send");
  EXPECT_EQ(sends[0],
            "host1 post_send qp1 ATOMIC_CMP_AND_SWP length=8 remote=r1:0 compare=1 "
            "swap=2 at=100000ns");
  EXPECT_EQ(sends[1],
            "host1 post_send qp1 ATOMIC_FETCH_AND_ADD length=8 remote=r1:0 add=3 at=101000ns");
}

struct Refusal {
  hw::WrOpcode opcode;
  hw::NakCode code;
  const char* send;     // part of the send
  const char* receive;  // part of the receive
  const char* here;
};

TEST(Conversion, RefusedMessagesFailAgain) {
  using Code = hw::NakCode;
  using Op = hw::WrOpcode;
  const Refusal refusals[] = {
      {Op::kRdmaWrite, Code::kRemoteAccess, "remote=no_rights:0", "", "remote_access"},
      {Op::kRdmaRead, Code::kRemoteOperational, "remote=no_rights:0", "", "remote_access"},
      {Op::kAtomicFetchAndAdd, Code::kRemoteAccess, "remote=no_rights:0", "", "remote_access"},
      {Op::kAtomicFetchAndAdd, Code::kInvalidRequest, "remote=r1:1 ", "", "invalid_request"},
      {Op::kSend, Code::kInvalidRequest, "length=64", "length=63", "invalid_request"},
      {Op::kSend, Code::kRemoteOperational, "length=64", "sge=mr:4096:64", "remote_operational"},
      {Op::kSend, Code::kRemoteAccess, "length=64", "sge=mr:4096:64", "remote_operational"},
  };
  for (const Refusal& refusal : refusals) {
    Capture capture;
    capture.refuse(refusal.opcode, 64, refusal.code);
    const auto trace = convert(capture);
    SCOPED_TRACE(trace.text);
    EXPECT_NE(trace.lines("post_send").at(0).find(refusal.send), std::string::npos);
    if (*refusal.receive != '\0') {
      EXPECT_NE(trace.lines("post_recv").at(0).find(refusal.receive), std::string::npos);
    }
    EXPECT_NE(trace.text.find(std::string(", here with ") + refusal.here + "\n"),
              std::string::npos);
  }
}

TEST(Conversion, NothingFollowsARefusedMessageOnItsConnection) {
  Capture capture;
  capture.add(hw::WrOpcode::kSend, 1);
  capture.refuse(hw::WrOpcode::kRdmaWrite, 2, hw::NakCode::kRemoteAccess);
  capture.add(hw::WrOpcode::kSend, 3);
  const auto trace = convert(capture);
  EXPECT_EQ(trace.result.connections, 2U);
  EXPECT_EQ(trace.lines("post_send")[1].substr(0, 19), "host1 post_send qp1");
  EXPECT_EQ(trace.lines("post_send")[2].substr(0, 19), "host1 post_send qp2");
}

TEST(Conversion, UnfinishedAndOtherTransportsAreCounted) {
  Capture capture;
  capture.add(hw::WrOpcode::kSend, 1);
  capture.add(hw::WrOpcode::kSend, 1).outcome = MessageOutcome::kUnfinished;
  capture.add(hw::WrOpcode::kSend, 1).transport = hw::Transport::kXrc;
  const auto trace = convert(capture);
  EXPECT_EQ(trace.result.sends, 1U);
  EXPECT_EQ(trace.result.left_out, 2U);
  EXPECT_NE(trace.text.find("# 1 messages without an end"), std::string::npos);
  EXPECT_NE(trace.text.find("# 1 messages on other transports"), std::string::npos);
}

TEST(Conversion, UnreliableServicesHaveConnectionsOfTheirOwn) {
  Capture capture;
  capture.add(hw::WrOpcode::kSend, 100);
  capture.add(hw::WrOpcode::kSend, 100).transport = hw::Transport::kUc;
  CapturedMessage& datagram = capture.add(hw::WrOpcode::kSend, 100);
  datagram.transport = hw::Transport::kUd;
  datagram.qkey = 0x1234;
  const auto trace = convert(capture);
  const auto line_of = [&](const char* begin) {
    const std::size_t at = trace.text.find(begin);
    return at == std::string::npos ? std::string()
                                   : trace.text.substr(at, trace.text.find('\n', at) - at);
  };
  EXPECT_EQ(line_of("connect host1.qp1 ").find("type="), std::string::npos);
  EXPECT_NE(line_of("connect host1.qp2 ").find(" type=UC "), std::string::npos);
  EXPECT_EQ(line_of("connect host1.qp2 ").find("timeout="), std::string::npos);
  EXPECT_NE(line_of("connect host1.qp3 ").find(" type=UD "), std::string::npos);
  EXPECT_NE(line_of("connect host1.qp3 ").find("qkey=0x1234"), std::string::npos);
  EXPECT_NE(line_of("host2 post_recv qp3").find("length=140"), std::string::npos);
  EXPECT_EQ(trace.result.sends, 3U);
  EXPECT_EQ(trace.result.left_out, 0U);
}

TEST(Conversion, TwoQueuePairsOfOneHost) {
  Capture capture;
  capture.add(hw::WrOpcode::kSend, 1, host(1, 5), host(1, 6));
  capture.add(hw::WrOpcode::kSend, 1, host(1, 6), host(1, 5));
  const auto trace = convert(capture);
  EXPECT_NE(trace.text.find("connect host1.qp1 host1.qp1b "), std::string::npos);
  EXPECT_EQ(trace.lines("post_send")[1].substr(0, 20), "host1 post_send qp1b");
}

TEST(Conversion, AsapKeepsCauses) {
  Capture capture;
  capture.add(hw::WrOpcode::kSend, 1);                           // nothing before it
  capture.add(hw::WrOpcode::kSend, 2, host(2), host(1));         // after the first arrived
  capture.add(hw::WrOpcode::kSend, 3);                           // after the second arrived
  capture.add(hw::WrOpcode::kRdmaWrite, 4);                      // after the third was complete
  CapturedMessage& early = capture.add(hw::WrOpcode::kSend, 5);  // posted together with the fourth
  early.first_packet -= kMicrosecond;
  ImportOptions options;
  options.timing = TimingPolicy::kAsap;
  const auto trace = convert(capture, options);
  EXPECT_EQ(trace.lines("post_send"),
            (Lines{"host1 post_send qp1 SEND length=1 at=100000ns",
                   "host2 post_send qp1 SEND length=2 after=l1",
                   "host1 post_send qp1 SEND length=3 after=l1 label=l1",
                   "host1 post_send qp1 RDMA_WRITE length=4 remote=r1:0 after=l1",
                   "host1 post_send qp1 SEND length=5 after=l1"}));
  EXPECT_EQ(trace.lines("post_recv"),
            (Lines{"host2 post_recv qp1 length=5 label=l1", "host2 post_recv qp1 length=5",
                   "host2 post_recv qp1 length=5", "host1 post_recv qp1 length=2 label=l1"}));
}

TEST(Conversion, FewLabelsAreEnough) {
  Capture capture;
  for (int i = 0; i < 1000; ++i) {
    const bool ping = i % 2 == 0;
    capture.add(hw::WrOpcode::kSend, 8, host(ping ? 1 : 2), host(ping ? 2 : 1));
  }
  ImportOptions options;
  options.timing = TimingPolicy::kAsap;
  options.max_recv_wr = 4;
  const auto trace = convert(capture, options);
  EXPECT_EQ(trace.delayed(Verb::kPostSend), 1000U);
  EXPECT_LT(trace.names.size(), 20U);
}

TEST(Conversion, LateReceivesWaitForAsManyTimersAsThereWereNaks) {
  Capture capture;
  CapturedMessage& first = capture.add(hw::WrOpcode::kSend, 1);
  first.rnr_naks = {6 * kMicrosecond, 8 * kMicrosecond};
  first.rnr_timer_code = 1;  // 10 us
  first.accepted = first.completed = 10 * kMicrosecond;
  CapturedMessage& second = capture.add(hw::WrOpcode::kSend, 1);
  second.rnr_naks = {11 * kMicrosecond};
  second.accepted = second.completed = 12 * kMicrosecond;
  capture.add(hw::WrOpcode::kSend, 1);
  ImportOptions options;
  options.receives = ReceivePolicy::kAsSeen;
  const auto trace = convert(capture, options);
  EXPECT_EQ(trace.lines("post_recv"), (Lines{"host2 post_recv qp1 length=1 at=116000ns label=l1",
                                             "host2 post_recv qp1 length=1 after=l1+5000ns",
                                             "host2 post_recv qp1 length=1"}));
  EXPECT_NE(trace.text.find("min_rnr_timer=1 "), std::string::npos);
}

TEST(Conversion, PathMtuIsKnownOrLargeEnough) {
  Capture capture;
  capture.add(hw::WrOpcode::kSend, 1500);
  EXPECT_NE(convert(capture).text.find("mtu=2048 "), std::string::npos);
  capture.analysis.records.back().path_mtu = 256;
  EXPECT_NE(convert(capture).text.find("mtu=256 "), std::string::npos);
}

TEST(Conversion, NothingIsLeftOnAFullDisk) {
  std::string folder = (std::filesystem::temp_directory_path() / "hcasim-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const support::FileSizeLimit full(0);
  EXPECT_THROW(trace_from_capture({}, {}, folder + "/x.trace"), OutputError);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}

TEST(Conversion, TimesBeforeTheFirstFrameAreTimes) {
  Capture capture;
  for (int i = 0; i < 4; ++i) {
    CapturedMessage& record =
        capture.add(hw::WrOpcode::kSend, 64, host(i % 2 == 0 ? 1 : 2), host(i % 2 == 0 ? 2 : 1));
    record.first_packet -= 100 * kMicrosecond;
    record.completed = record.accepted = record.first_packet + kMicrosecond / 2;
  }
  const auto captured = convert(capture);
  EXPECT_EQ(captured.lines("post_send")[0], "host1 post_send qp1 SEND length=64 at=100000ns");
  EXPECT_EQ(captured.lines("post_send")[3], "host2 post_send qp1 SEND length=64 at=103000ns");
  ImportOptions asap;
  asap.timing = TimingPolicy::kAsap;
  const auto causes = convert(capture, asap).lines("post_send");
  for (int i = 1; i < 4; ++i) EXPECT_THAT(causes[i], testing::HasSubstr(" after=l")) << i;
}

TEST(Conversion, OnlyWhatCanAskForAnEventDoes) {
  for (const hw::WrOpcode opcode :
       {hw::WrOpcode::kSend, hw::WrOpcode::kSendWithImm, hw::WrOpcode::kRdmaWrite,
        hw::WrOpcode::kRdmaWriteWithImm, hw::WrOpcode::kRdmaRead, hw::WrOpcode::kAtomicFetchAndAdd,
        hw::WrOpcode::kAtomicCmpAndSwp}) {
    Capture capture;
    CapturedMessage& record = capture.add(opcode, 8);
    record.solicited = true;
    record.imm = 1;
    record.remote_addr = 4096;
    const bool solicits = opcode == hw::WrOpcode::kSend || opcode == hw::WrOpcode::kSendWithImm ||
                          opcode == hw::WrOpcode::kRdmaWriteWithImm;
    if (!solicits && opcode != hw::WrOpcode::kRdmaWriteWithImm) record.imm.reset();
    const auto lines = convert(capture).lines("post_send");  // also read again, and so accepted
    EXPECT_EQ(lines.at(0).find("solicited") != std::string::npos, solicits) << lines.at(0);
  }
}

TEST(Assumptions, EachIsInTheHeadWithItsOption) {
  ImportOptions options;
  set_assumption(options, "max_recv_wr=7");
  Capture capture;
  capture.add(hw::WrOpcode::kSend, 1);
  const auto trace = convert(capture, options);
  EXPECT_EQ(trace.assumptions, list_assumptions(options));
  EXPECT_NE(trace.text.find("assume max_recv_wr = 7: depth of each receive queue (--assume "
                            "max_recv_wr=N)\n"),
            std::string::npos);
  EXPECT_NE(trace.text.find(" max_recv_wr=7 "), std::string::npos);
}

TEST(Assumptions, WrongSettingsAreRefused) {
  ImportOptions options;
  const auto message = [&](const char* setting) -> std::string {
    try {
      set_assumption(options, setting);
      return "accepted";
    } catch (const InputError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(message("max_rcv_wr=1"),
            "--assume: expected KEY=VALUE with a key of the head of a trace, found 'max_rcv_wr'; "
            "did you mean 'max_recv_wr'?");
  EXPECT_EQ(message("timeout=32"),
            "--assume: expected for timeout a number from 0 to 31, found "
            "'32'");
  EXPECT_NE(message("timeout"), "accepted");
  EXPECT_NE(message("timeout=x"), "accepted");
  EXPECT_NE(message(""), "accepted");
}

}  // namespace
}  // namespace hcasim::sim
