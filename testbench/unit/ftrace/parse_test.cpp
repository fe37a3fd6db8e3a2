// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Lines of all three programs, with what makes them hard to take apart.
#include "sim/ftrace/parse.hpp"

#include <gtest/gtest.h>

#include <random>

#include "support/seed.hpp"

namespace hcasim::sim::ftrace {
namespace {

struct Sample {
  std::string text;
  Form form;
  std::string task;
  std::uint64_t pid;
  std::uint64_t cpu;
  std::uint64_t time;
};

const Sample kSamples[] = {
    {"            fio-88      [001] d..1.    12.000345: rvt_qpinsert: [r0] qpn 0x1c bucket 9",
     Form::kKernel, "fio", 88, 1, 12'000'345'000},
    {"            fio-88      [001] d..1    12.000345: rvt_qpinsert: [r0] qpn 0x1c bucket 9",
     Form::kKernel, "fio", 88, 1, 12'000'345'000},
    {"            fio-88      (     77) [001] .....    12.000345: rvt_qpinsert: [r0] qpn 0x1c "
     "bucket "
     "9",
     Form::kKernel, "fio", 88, 1, 12'000'345'000},
    {"            fio-88      (-------) [128] .N.h.    12.000345: rvt_qpinsert: [r0] qpn 0x1c "
     "bucket "
     "9",
     Form::kKernel, "fio", 88, 128, 12'000'345'000},
    {"  my - task: 2-1     [000] ..... 99999999.5: rvt_qpinsert: [r0] qpn 0x1c bucket 9",
     Form::kKernel, "my - task: 2", 1, 0, 99'999'999'500'000'000},
    {" kworker/0:1H-b-205     [000] ....1    12.000345: rvt_qpinsert: [r0] qpn 0x1c bucket 9",
     Form::kKernel, "kworker/0:1H-b", 205, 0, 12'000'345'000},
    {"           <...>-88    [001]    12.000345: rvt_qpinsert:         [r0] qpn 0x1c bucket 9",
     Form::kTraceCmd, "<...>", 88, 1, 12'000'345'000},
    {"     fio-88      3d..1.    12.000345: rvt_qpinsert:         [r0] qpn 0x1c bucket 9",
     Form::kTraceCmd, "fio", 88, 3, 12'000'345'000},
    {"fio    88 [001]    12.000345678: rvt_qp:rvt_qpinsert: [r0] qpn 0x1c bucket 9", Form::kPerf,
     "fio", 88, 1, 12'000'345'678},
    {"my task 88/90 [001]    12.000345: rvt_qp:rvt_qpinsert: [r0] qpn 0x1c bucket 9", Form::kPerf,
     "my task", 90, 1, 12'000'345'000},
};

TEST(FtraceParse, TakesLinesOfAllPrograms) {
  for (const Sample& sample : kSamples) {
    SCOPED_TRACE(sample.text);
    const Line line = parse_line(sample.text);
    ASSERT_EQ(line.kind, LineKind::kEvent);
    EXPECT_EQ(line.form, sample.form);
    EXPECT_EQ(line.task, sample.task);
    EXPECT_EQ(line.pid, sample.pid);
    EXPECT_EQ(line.cpu, sample.cpu);
    EXPECT_EQ(line.time, sample.time);
    EXPECT_FALSE(line.ticks);
    EXPECT_EQ(line.event, "rvt_qpinsert");
    const Event event = parse_event(EventKind::kQpInsert, line);
    EXPECT_EQ(event.dev, "r0");
    EXPECT_EQ(std::get<QpHash>(event.fields).qpn, 0x1cU);
  }
}

TEST(FtraceParse, OtherClocksHaveTicks) {
  const Line line = parse_line("  fio-88  [001] d..1. 9876543210: rvt_dbg: [r0]: up");
  ASSERT_EQ(line.kind, LineKind::kEvent);
  EXPECT_TRUE(line.ticks);
  EXPECT_EQ(line.time, 9'876'543'210U);
}

TEST(FtraceParse, LostEventsAndHeaders) {
  EXPECT_EQ(parse_line("CPU:2 [LOST 31 EVENTS]").lost, 31U);
  EXPECT_EQ(parse_line("CPU:2 [LOST EVENTS]").kind, LineKind::kLost);
  EXPECT_EQ(parse_line("CPU:0 [EVENTS DROPPED]").kind, LineKind::kLost);
  EXPECT_EQ(parse_line("fio 8 [1] 1.0: PERF_RECORD_LOST lost 4").lost, 4U);
  for (const char* text : {"", "   ", "# tracer: nop", "cpus=8", "   => stack_of_something"}) {
    EXPECT_EQ(parse_line(text).kind, LineKind::kHeader) << text;
  }
}

TEST(FtraceParse, OtherLinesAreUnknown) {
  for (const char* text : {"hello", "1.5: rvt_dbg: [r]: x", "fio-88 1.5: rvt_dbg: [r]: x",
                           "fio-x [001] 1.5: rvt_dbg: [r]: x", "fio-8 [001] 1.: rvt_dbg: [r]: x",
                           "fio-8 [0x1] 1.5: rvt_dbg: [r]: x"}) {
    EXPECT_EQ(parse_line(text).kind, LineKind::kUnknown) << text;
  }
  EXPECT_EQ(parse_line(" fio-8 [001] ....  1.5: some_function <-its_caller").event, "");
}

constexpr const char* kPrefix = "  fio-88  [001] .....  1.5: ";

Event parsed(EventKind kind, const std::string& text) {
  static std::string whole;
  whole = kPrefix + std::string(name_of(kind)) + ": " + text;
  return parse_event(kind, parse_line(whole));
}

TEST(FtraceParse, PointersAreRealHashedOrNone) {
  const auto timer_of = [](const std::string& pointer) {
    const Event event = parsed(EventKind::kRnrNakAdd,
                               "[r] qpn 0x4 hrtimer " + pointer + " s_flags 0x0 timeout 10 us");
    return std::get<RnrNak>(event.fields).hrtimer;
  };
  EXPECT_EQ(timer_of("0x00000000deadbeef"), 0xdeadbeefU);
  EXPECT_EQ(timer_of("0x0xffff888000000010"), 0xffff'8880'0000'0010U);
  EXPECT_EQ(timer_of("0x(____ptrval____)"), 0U);
  EXPECT_EQ(timer_of("0x(null)"), 0U);
}

TEST(FtraceParse, OnlyTheNumberOfAnOpcodeIsTrusted) {
  const auto opcode_of = [](const std::string& opcode) {
    const Event event = parsed(EventKind::kCqEnter, "[r] idx 0 wr_id 0 status 0 opcode " + opcode +
                                                        " length 1 qpn 2 flags 0 imm 0");
    return std::get<CqEntry>(event.fields).opcode;
  };
  EXPECT_EQ(opcode_of("128,RECV"), 128U);
  EXPECT_EQ(opcode_of("128,0x80"), 128U);
  EXPECT_EQ(opcode_of("129,SEND"), 129U);
}

TEST(FtraceParse, SaysWhereAFieldIsWrong) {
  const auto column_of = [](const std::string& text) {
    try {
      parsed(EventKind::kQpInsert, text);
    } catch (const FieldError& error) {
      return static_cast<int>(error.column - std::string(kPrefix).size() - 15);
    }
    return -1;
  };
  EXPECT_EQ(column_of("[r] qpn 0x4 bucket 7"), -1);
  EXPECT_EQ(column_of("r] qpn 0x4 bucket 7"), 0);
  EXPECT_EQ(column_of("[r] qpm 0x4 bucket 7"), 3);
  EXPECT_EQ(column_of("[r] qpn 0xzz bucket 7"), 10);
  EXPECT_EQ(column_of("[r] qpn 0x4 bucket 7x"), 19);
  EXPECT_EQ(column_of("[r] qpn 0x4 bucket 99999999999"), 19);
  EXPECT_EQ(column_of("[r] qpn 0x4 bucket 7 more"), 21);
  EXPECT_EQ(column_of("[r] qpn 0x4 bucket"), 11);
}

// Any change to a line ends in an event, another kind of line or one FieldError.
TEST(FtraceParse, SurvivesRandomChanges) {
  std::mt19937_64 random(support::test_seed(11));
  int events = 0;
  int wrong = 0;
  for (int run = 0; run < 60'000; ++run) {
    std::string text = kSamples[random() % std::size(kSamples)].text;
    for (std::size_t i = random() % 4; i > 0 && !text.empty(); --i) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, random() % 6);
          break;
        default:
          text.insert(at, 1, " :.-[]()0x9"[random() % 11]);
      }
    }
    const Line line = parse_line(text);
    if (line.kind != LineKind::kEvent) continue;
    ASSERT_LE(line.text_column, text.size() + 1);
    const auto kind = kind_of(line.event).value_or(static_cast<EventKind>(random() % kEventKinds));
    try {
      parse_event(kind, line);
      ++events;
    } catch (const FieldError& error) {
      ASSERT_GE(error.column, line.text_column);
      ASSERT_LE(error.column, text.size() + 1);
      ++wrong;
    }
  }
  EXPECT_GT(events, 5'000);
  EXPECT_GT(wrong, 5'000);
}

}  // namespace
}  // namespace hcasim::sim::ftrace
