// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Small captures made by hand: order, refusals, what is left out.
#include "support/file_size_limit.hpp"

#include "made_analysis.hpp"

namespace hcasim::sim {
namespace {

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
