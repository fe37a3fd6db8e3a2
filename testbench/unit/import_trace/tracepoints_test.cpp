// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Tracepoints as text, and the trace that they become.
#include "sim/import/trace_from_tracepoints.hpp"

#include <gmock/gmock.h>

#include "sim/ftrace/format.hpp"
#include "unit/record/folder.hpp"

namespace hcasim::sim {
namespace {

using ftrace::CqEntry;
using ftrace::EventKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint32_t kRc = 2;
constexpr std::uint32_t kUd = 4;
constexpr std::uint32_t kSignaled = 2;
constexpr std::uint32_t kSuccess = 0;
constexpr std::uint32_t kFlushed = 5;

/// A file in the kernel's form, line by line.
class Machine {
 public:
  void born(std::uint32_t qpn, const char* device = "r0") {
    add(EventKind::kQpInsert, device, ftrace::QpHash{qpn, 0});
  }
  void post(std::uint32_t qpn, std::uint32_t opcode, std::uint32_t length,
            std::uint32_t flags = kSignaled, std::uint32_t type = kRc, const char* device = "r0") {
    ftrace::PostOneWr wr;
    wr.qpn = qpn;
    wr.qpt = type;
    wr.opcode = opcode;
    wr.length = length;
    wr.send_flags = flags;
    wr.wr_id = 0x100 + posts_;
    wr.head = posts_++;
    wr.ssn = 1;
    wr.size = 33;
    add(EventKind::kPostOneWr, device, wr);
  }
  /// The completion of the post with this number, from 0.
  void sent(std::uint32_t qpn, std::uint32_t post, std::uint32_t opcode,
            std::uint32_t status = kSuccess, const char* device = "r0") {
    add(EventKind::kCqEnter, device, CqEntry{0, 0x100 + post, status, opcode, 0, qpn, 0, 0});
  }
  void received(std::uint32_t qpn, std::uint32_t length, std::uint32_t status = kSuccess,
                const char* device = "r0") {
    add(EventKind::kCqEnter, device, CqEntry{0, 0, status, 128, length, qpn, 0, 0});
  }
  void waits(std::uint32_t qpn, std::uint32_t us) {
    add(EventKind::kRnrNakAdd, "r0", ftrace::RnrNak{qpn, 1, 0x80, us});
  }
  void raw(const std::string& line) { text_ += line + '\n'; }
  void wait(hw::Time time) { now_ += time; }

  TracepointAnalysis analyse(const TracepointOptions& options = {}) const {
    const test::Folder folder;
    std::ofstream(folder / "t.txt") << text_;
    EXPECT_TRUE(is_tracepoint_text(folder / "t.txt"));
    return analyse_tracepoints(folder / "t.txt", "t.txt", options);
  }
  std::string error() const {
    try {
      analyse();
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  }
  const std::string& text() const { return text_; }

 private:
  void add(EventKind kind, const char* device, const ftrace::Fields& fields) {
    now_ += 10 * hw::kMicrosecond;
    ftrace::append_line(text_, {"it", 5, 0}, now_, {kind, device, fields});
  }

  std::string text_ = "# tracer: nop\n";
  hw::Time now_ = 7 * hw::kSecond;
  std::uint32_t posts_ = 0;
};

struct Imported {
  explicit Imported(const Machine& machine, const ImportOptions& options = {})
      : analysis(machine.analyse()) {
    const test::Folder folder;
    result = trace_from_tracepoints(analysis, options, folder / "t.trace");
    text = test::text_of(folder / "t.trace");
    TraceReader reader(folder / "t.trace");
    Operation operation;
    while (reader.next(operation)) continue;
  }
  /// Lines with this verb, without comments.
  std::vector<std::string> lines(const std::string& verb) const {
    std::vector<std::string> found;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      if (line.find(' ' + verb + ' ') != std::string::npos && line[0] != '#') found.push_back(line);
    }
    return found;
  }
  std::string connect() const {
    const std::size_t begin = text.find("\nconnect ") + 1;
    return text.substr(begin, text.find('\n', begin) - begin);
  }

  TracepointAnalysis analysis;
  TracepointImport result;
  std::string text;
};

TEST(Tracepoints, TwoQueuePairsOfOneMachineAreFound) {
  Machine it;
  it.born(6);
  it.born(8);
  it.post(6, 2, 5000, kSignaled | 4);
  it.received(8, 5000);
  it.sent(6, 0, 0);
  const Imported imported(it);
  EXPECT_EQ(imported.result.nodes, 1U);
  EXPECT_THAT(imported.connect(), HasSubstr("connect r0.qp6 r0.qp8 "));
  EXPECT_THAT(imported.connect(), HasSubstr("max_send_wr=32 "));
  EXPECT_THAT(imported.lines("post_recv"), ElementsAre("r0 post_recv qp8 length=5000"));
  EXPECT_THAT(imported.lines("post_send"),
              ElementsAre("r0 post_send qp6 SEND length=5000 at=100000ns solicited"));
}

TEST(Tracepoints, APeerThatIsNotThereIsMadeUp) {
  Machine it;
  it.post(6, 2, 64);
  it.sent(6, 0, 0);
  it.received(6, 100);
  const Imported imported(it);
  EXPECT_THAT(imported.connect(), HasSubstr("connect r0.qp6 peer.of_r0_qp6 "));
  EXPECT_THAT(imported.lines("post_recv"),
              ElementsAre("r0 post_recv qp6 length=100", "peer post_recv of_r0_qp6 length=64"));
  EXPECT_THAT(imported.lines("post_send"),
              ElementsAre("r0 post_send qp6 SEND length=64 at=100000ns",
                          "peer post_send of_r0_qp6 SEND length=100 at=120000ns"));
  EXPECT_EQ(imported.result.made_up_sends, 1U);
}

TEST(Tracepoints, PeersAreThoseWhoseMessagesFit) {
  Machine it;
  for (const std::uint32_t qpn : {2, 4, 6, 8}) it.born(qpn);
  it.post(2, 2, 100);
  it.post(4, 2, 200);
  it.received(6, 200);
  it.received(8, 100);
  const TracepointAnalysis analysis = it.analyse();
  EXPECT_EQ(analysis.qps[0].peer, 3U);
  EXPECT_EQ(analysis.qps[1].peer, 2U);
  EXPECT_FALSE(analysis.qps[0].uncertain);
}

TEST(Tracepoints, WhatFoundNoReceiveIsNobodysMessage) {
  Machine it;
  it.post(2, 2, 100);
  it.post(4, 2, 100);
  it.sent(2, 0, 0, 13);  // RNR_RETRY_EXC_ERR
  it.received(6, 100);
  it.sent(4, 1, 0);
  const TracepointAnalysis analysis = it.analyse();
  EXPECT_EQ(analysis.qps[0].peer, kNobody);
  EXPECT_EQ(analysis.qps[1].peer, 2U);
  EXPECT_FALSE(analysis.qps[1].uncertain);
}

TEST(Tracepoints, EqualMessagesLeaveADoubt) {
  Machine it;
  it.post(2, 2, 100);
  it.post(4, 2, 100);
  it.received(6, 100);
  it.received(8, 100);
  const TracepointAnalysis analysis = it.analyse();
  EXPECT_NE(analysis.qps[0].peer, kNobody);
  EXPECT_TRUE(analysis.qps[0].uncertain);
}

TEST(Tracepoints, DatagramsAreLongerWhereTheyArrive) {
  Machine it;
  it.post(2, 2, 100, kSignaled, kUd);
  it.received(6, 140);
  it.sent(2, 0, 0);
  const Imported imported(it);
  EXPECT_THAT(imported.connect(), HasSubstr("connect r0.qp2 r0_2.qp6 cqe=16384 type=UD "));
  EXPECT_THAT(imported.lines("post_recv"), ElementsAre("r0_2 post_recv qp6 length=140"));
}

TEST(Tracepoints, UnsignaledSendsAreDoneWithTheNextThatIsNot) {
  Machine it;
  it.post(2, 0, 100, 0);
  it.post(2, 0, 200);
  it.sent(2, 1, 1);
  it.post(2, 0, 300);
  const Imported imported(it);
  EXPECT_THAT(
      imported.lines("post_send"),
      ElementsAre("r0 post_send qp2 RDMA_WRITE length=100 remote=mr:0 at=100000ns unsignaled",
                  "r0 post_send qp2 RDMA_WRITE length=200 remote=mr:0 at=110000ns"));
  EXPECT_EQ(imported.result.unfinished, 1U);
  EXPECT_THAT(imported.text, HasSubstr("# 1 posts without an end"));
}

TEST(Tracepoints, ACompletionWithoutAFlagMeansThatAllHaveOne) {
  Machine it;
  it.post(2, 0, 100, 0);
  it.sent(2, 0, 1);
  EXPECT_THAT(Imported(it).connect(), HasSubstr("sq_sig_all=1"));
}

TEST(Tracepoints, WaitsForAReceiveTellTheTimerAndComeAgainWhenAsked) {
  Machine it;
  it.post(2, 2, 100);
  it.waits(2, 640);
  it.wait(640 * hw::kMicrosecond);
  it.received(6, 100);
  it.sent(2, 0, 0);
  EXPECT_THAT(Imported(it).connect(), HasSubstr("min_rnr_timer=12"));
  EXPECT_THAT(Imported(it).lines("post_recv"), ElementsAre(Not(HasSubstr("at="))));
  ImportOptions late;
  late.receives = ReceivePolicy::kAsSeen;
  EXPECT_THAT(Imported(it, late).lines("post_recv"),
              ElementsAre("r0 post_recv qp6 length=100 at=430000ns"));
}

TEST(Tracepoints, AsapFollowsCompletions) {
  Machine it;
  it.post(2, 2, 100);
  it.received(6, 100, kSuccess, "r1");
  it.sent(2, 0, 0);
  it.post(6, 2, 50, kSignaled, kRc, "r1");
  it.received(2, 50);
  it.sent(6, 1, 0, kSuccess, "r1");
  it.post(2, 2, 100);
  it.received(6, 100, kSuccess, "r1");
  it.sent(2, 2, 0);
  ImportOptions asap;
  asap.timing = TimingPolicy::kAsap;
  EXPECT_THAT(Imported(it, asap).lines("post_send"),
              ElementsAre("r0 post_send qp2 SEND length=100 at=100000ns",
                          "r1 post_send qp6 SEND length=50 after=l1",
                          "r0 post_send qp2 SEND length=100 after=l1"));
  EXPECT_THAT(Imported(it, asap).lines("post_recv"),
              ElementsAre("r0 post_recv qp2 length=50 label=l1",
                          "r1 post_recv qp6 length=100 label=l1", "r1 post_recv qp6 length=100"));
}

// More receives than stand ahead of their messages.
TEST(Tracepoints, AsapFindsLabelsOfReceivesThatAreWrittenOnTheWay) {
  Machine it;
  for (std::uint32_t i = 0; i < 129; ++i) {
    it.post(2, 2, 100);
    it.received(6, 100, kSuccess, "r1");
    it.sent(2, i, 0);
  }
  it.post(6, 2, 50, kSignaled, kRc, "r1");
  it.received(2, 50);
  it.sent(6, 129, 0, kSuccess, "r1");
  ImportOptions asap;
  asap.timing = TimingPolicy::kAsap;
  asap.max_recv_wr = 1;
  EXPECT_EQ(Imported(it, asap).lines("post_send").size(), 130U);
}

TEST(Tracepoints, FailuresHappenAgain) {
  Machine it;
  it.post(2, 0, 100);
  it.sent(2, 0, 1, 10);
  it.post(2, 2, 100);
  it.sent(2, 1, 0, kFlushed);
  const Imported imported(it);
  EXPECT_THAT(imported.lines("reg_mr"),
              ElementsAre("peer reg_mr no_rights length=4096 access=none"));
  EXPECT_THAT(imported.lines("post_send"),
              ElementsAre(HasSubstr("remote=no_rights:0"), HasSubstr("SEND length=100")));
  EXPECT_THAT(imported.lines("modify_qp"), ElementsAre());
}

TEST(Tracepoints, FlushesWithoutAnErrorAreTheProgramsDoing) {
  Machine it;
  it.post(2, 2, 100);
  it.received(6, 100);
  it.sent(2, 0, 0);
  it.received(6, 0, kFlushed);
  const Imported imported(it);
  EXPECT_THAT(imported.lines("modify_qp"), ElementsAre("r0 modify_qp qp6 state=ERR at=130000ns"));
  EXPECT_EQ(imported.result.receives, 2U);
}

TEST(Tracepoints, LocalOperationsHaveRegions) {
  Machine it;
  it.post(2, 0x20, 0, 0);
  it.post(2, 7, 0);
  it.sent(2, 1, 6);
  it.post(2, 7, 0);
  it.sent(2, 2, 6);
  const Imported imported(it);
  EXPECT_THAT(imported.lines("alloc_mr"),
              ElementsAre("r0 alloc_mr f1 length=4096", "r0 alloc_mr f2 length=4096"));
  EXPECT_THAT(imported.lines("post_send"),
              ElementsAre("r0 post_send qp2 REG_MR mr=f2 unsignaled",
                          "r0 post_send qp2 REG_MR mr=f1 at=100000ns unsignaled",
                          "r0 post_send qp2 LOCAL_INV invalidate=f1 at=110000ns",
                          "r0 post_send qp2 LOCAL_INV invalidate=f2 at=130000ns"));
}

TEST(Tracepoints, ANumberThatIsRemovedBeginsANewLife) {
  Machine it;
  for (std::uint32_t life = 0; life < 2; ++life) {
    it.born(2);
    it.post(2, 0, 100);
    it.sent(2, life, 1);
  }
  EXPECT_EQ(Imported(it).result.connections, 2U);
  EXPECT_THAT(Imported(it).text, HasSubstr("connect r0.qp2_2 "));
}

TEST(Tracepoints, WhatIsCutOffOrLostIsCounted) {
  Machine it;
  it.raw("ength 16 qpn 2 flags 0 imm 0");  // line 2, still an error
  EXPECT_THAT(it.error(), Not(HasSubstr("none")));
  Machine cut;
  cut.sent(2, 77, 0);
  cut.raw("CPU:0 [LOST 12 EVENTS]");
  cut.raw("     it-5  [000] ..... 8.0: sched_switch: a b c");
  cut.received(6, 10);
  cut.raw("     it-5  [000] ..... 8.5: rvt_cq_enter: [r0] idx 0 wr_");
  const TracepointAnalysis analysis = cut.analyse();
  EXPECT_EQ(analysis.orphans, 1U);
  EXPECT_EQ(analysis.lost, 12U);
  EXPECT_EQ(analysis.unknown_events, 1U);
  EXPECT_EQ(analysis.cut_lines, 1U);
}

TEST(Tracepoints, ErrorsHavePlaces) {
  Machine it;
  it.raw("     it-5  [000] ..... 8.5: rvt_qpinsert: [r0] qpn 0x2 buckets 5");
  it.born(4);
  EXPECT_EQ(it.error(), "t.txt:2:55: expected ' bucket ', found 'buckets'");
  Machine words;
  words.born(2);
  words.raw("nothing of the kind");
  words.born(4);
  EXPECT_EQ(words.error(),
            "t.txt:3:1: expected a line such as TASK-PID [CPU] TIME: EVENT: TEXT, found 'nothing "
            "of the kind'");
}

TEST(Tracepoints, AClockWithoutUnitHasTicks) {
  Machine it;
  for (const char* time : {"1000", "3000", "2000", "2500"}) {
    it.raw(std::string("  it-5 [000] ..... ") + time +
           ": rvt_cq_enter: [r0] idx 0 wr_id 0 status 0 opcode 128,RECV length 8 qpn 2 flags 0 imm "
           "0");
  }
  const TracepointAnalysis analysis = it.analyse({.tick_ps = 500});
  EXPECT_TRUE(analysis.ticks);
  EXPECT_EQ(analysis.steps_back, 1U);
  EXPECT_EQ(analysis.qps[0].receives[1].time, 1'000'000);
  EXPECT_EQ(analysis.qps[0].receives[2].time, 1'000'000);
  EXPECT_EQ(analysis.qps[0].receives[3].time, 1'000'000);
}

TEST(Tracepoints, OtherFilesAreNotTaken) {
  const test::Folder folder;
  const auto is_text = [&](const std::string& bytes) {
    std::ofstream(folder / "x", std::ios::binary) << bytes;
    return is_tracepoint_text(folder / "x");
  };
  EXPECT_FALSE(is_text(""));
  EXPECT_FALSE(is_text("a letter\nof two lines\n"));
  EXPECT_FALSE(is_text(std::string("# tracer: nop\n\0", 15)));
  EXPECT_TRUE(is_text("cpus=4\n"));
  EXPECT_TRUE(is_text("tail of a line\n it 5 [0] 1.5: a:b: c\n"));
  EXPECT_FALSE(is_tracepoint_text(folder / "none"));
}

}  // namespace
}  // namespace hcasim::sim
