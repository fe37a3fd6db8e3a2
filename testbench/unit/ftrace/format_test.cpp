// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The text of each event, letter by letter, and that it reads back as it was.
#include "sim/ftrace/format.hpp"

#include <gtest/gtest.h>

#include "sim/ftrace/parse.hpp"

namespace hcasim::sim::ftrace {
namespace {

constexpr hw::Time kAt = 61 * hw::kSecond + 42 * hw::kMicrosecond + 999 * hw::kNanosecond;

std::string line_of(const Event& event) {
  std::string line;
  append_line(line, {"client", 7, 3}, kAt, event);
  return line;
}

/// The text behind the name, which must read back as the same text.
std::string text_of(EventKind kind, const Fields& fields) {
  const Event event{kind, "rdma3", fields};
  std::string text;
  append_text(text, event);
  std::string whole = line_of(event);
  whole.pop_back();
  const Line line = parse_line(whole);
  EXPECT_EQ(line.kind, LineKind::kEvent);
  EXPECT_EQ(line.event, name_of(kind));
  EXPECT_EQ(line.text, text);
  std::string again;
  append_text(again, parse_event(*kind_of(line.event), line));
  EXPECT_EQ(again, text);
  return text;
}

TEST(FtraceFormat, LinesHaveTheKernelsPrefix) {
  EXPECT_EQ(line_of({EventKind::kQpInsert, "rdma3", QpHash{0x1c, 9}}),
            "          client-7       [003] .....    61.000042: rvt_qpinsert: [rdma3] qpn 0x1c "
            "bucket 9\n");
  std::string line;
  append_line(line, {"a-task-of-many-letters", 1234567, 12}, 123456 * hw::kSecond,
              {EventKind::kDebug, "d", Debug{"up"}});
  EXPECT_EQ(line, " a-task-of-many--1234567 [012] ..... 123456.000000: rvt_dbg: [d]: up\n");
}

TEST(FtraceFormat, QueuePairs) {
  EXPECT_EQ(text_of(EventKind::kDebug, Debug{"a word, or more"}), "[rdma3]: a word, or more");
  EXPECT_EQ(text_of(EventKind::kQpRemove, QpHash{0xab, 255}), "[rdma3] qpn 0xab bucket 255");
  for (const EventKind kind :
       {EventKind::kRnrNakAdd, EventKind::kRnrNakStop, EventKind::kRnrNakTimeout}) {
    EXPECT_EQ(text_of(kind, RnrNak{0x12, 0xcafe, 0x81, 960}),
              "[rdma3] qpn 0x12 hrtimer 0x000000000000cafe s_flags 0x81 timeout 960 us");
  }
  EXPECT_EQ(
      text_of(EventKind::kRcTimeout, RcTimeout{0x12, 0x5, 0xa0, 0xa8, 0xb0, 0xa9, 0xaa, 0xfffffe}),
      "[rdma3] qpn 0x12 s_flags 0x5 psn 0xa0 s_psn 0xa8 s_next_psn 0xb0 s_sending_psn 0xa9 "
      "sending_hpsn 0xaa r_psn 0xfffffe");
}

PostOneWr post_of(std::uint32_t opcode) {
  PostOneWr wr;
  wr.wqe = 0x1234abcd;
  wr.wr_id = 0xfeed'0000'0001;
  wr.send_flags = 0x4000006;
  wr.qpn = 0x1e;
  wr.qpt = 3;
  wr.psn = 0x1fffffe;
  wr.lpsn = 0x2000001;
  wr.ssn = 0x2b;
  wr.length = 3333;
  wr.opcode = opcode;
  wr.size = 66;
  wr.avail = 11;
  wr.head = 65;
  wr.last = 10;
  wr.pid = 4711;
  wr.num_sge = 2;
  wr.wr_num_sge = 3;
  return wr;
}

TEST(FtraceFormat, Posts) {
  EXPECT_EQ(text_of(EventKind::kPostOneWr, post_of(3)),
            "[rdma3] wqe 000000001234abcd wr_id feed00000001 send_flags 4000006 qpn 1e qpt 3 psn "
            "1fffffe lpsn 2000001 ssn 2b length 3333 opcode 0x03,SEND_WITH_IMM size 66 avail 11 "
            "head 65 last 10 pid 4711 num_sge 2 wr_num_sge 3");
}

TEST(FtraceFormat, NamesThatTheKernelLacksAreNumbers) {
  const auto opcode_of = [](std::uint32_t opcode) {
    const std::string text = text_of(EventKind::kPostOneWr, post_of(opcode));
    const std::size_t begin = text.find("opcode ") + 7;
    return text.substr(begin, text.find(" size") - begin);
  };
  EXPECT_EQ(opcode_of(0x20), "0x20,0x20");
  EXPECT_EQ(opcode_of(0x21), "0x21,0x21");
  EXPECT_EQ(opcode_of(8), "0x08,0x8");
  EXPECT_EQ(opcode_of(7), "0x07,LOCAL_INV");
  EXPECT_EQ(opcode_of(9), "0x09,SEND_WITH_INV");
  EXPECT_EQ(opcode_of(0xf1), "0xf1,RESERVED2");
  const auto completion_of = [](std::uint32_t opcode) {
    CqEntry entry;
    entry.opcode = opcode;
    const std::string text = text_of(EventKind::kCqPoll, entry);
    const std::size_t begin = text.find("opcode ") + 7;
    return text.substr(begin, text.find(" length") - begin);
  };
  EXPECT_EQ(completion_of(5), "5,0x5");
  EXPECT_EQ(completion_of(6), "6,LOCAL_INV");
  EXPECT_EQ(completion_of(8), "8,REG_MR");
  EXPECT_EQ(completion_of(10), "10,0xa");
  EXPECT_EQ(completion_of(129), "129,RECV_RDMA_WITH_IMM");
}

TEST(FtraceFormat, Completions) {
  const SendCompletion done{0x1e, 3, 0x1234abcd, 65, 0xfeed, 3333, 43, 0x20, 0x6};
  for (const EventKind kind : {EventKind::kSendCompletion, EventKind::kHfi1SendCompletion}) {
    EXPECT_EQ(text_of(kind, done),
              "[rdma3] qpn 0x1e qpt 3 wqe 000000001234abcd idx 65 wr_id feed length 3333 ssn 43 "
              "opcode 20 send_flags 6");
  }
  EXPECT_EQ(text_of(EventKind::kCreateCq, CreateCq{false, 512, -1, 2, 0}),
            "[rdma3] user cq false cqe 512 comp_vector -1 comp_vector_cpu 2 flags 0");
  EXPECT_EQ(text_of(EventKind::kCreateCq, CreateCq{true, 1, 0, 0, 0x1f}),
            "[rdma3] user cq true cqe 1 comp_vector 0 comp_vector_cpu 0 flags 1f");
  EXPECT_EQ(text_of(EventKind::kCqEnter, CqEntry{7, 0xabc, 12, 128, 4097, 0x1a, 2, 0xbeef}),
            "[rdma3] idx 7 wr_id abc status 12 opcode 128,RECV length 4097 qpn 1a flags 2 imm "
            "beef");
}

TEST(FtraceFormat, Memory) {
  const MrSegment segment{0x300, 0x7fff0000, 0x7ffe1000, 70000, 0xffff8000, 0x77, 1, 255, 4096, 9};
  for (const EventKind kind :
       {EventKind::kMrPageSeg, EventKind::kMrFmrSeg, EventKind::kMrUserSeg}) {
    EXPECT_EQ(text_of(kind, segment),
              "[rdma3] lkey 300 iova 7fff0000 user_base 7ffe1000 mr_len 70000 vaddr ffff8000 page "
              "0000000000000077 m 1 n 255 len 4096 off 9");
  }
  const SgeCheck check{0x11, 0x22, 0x33, 0x44, 0xabcd, 0x300, 5000, 96, 5000, 2, 2, 1};
  for (const EventKind kind : {EventKind::kSgeNew, EventKind::kSgeAdjacent}) {
    EXPECT_EQ(text_of(kind, check),
              "[rdma3] mr 0000000000000011 sge 0000000000000022 isge 0000000000000033 vaddr "
              "0000000000000044 ivaddr abcd lkey 300 sge_length 5000 length 96 ilength 5000 m 2 n "
              "2 user 1");
  }
  EXPECT_EQ(text_of(EventKind::kMapMrSg, MapMrSg{0x5000, 0x6000, 0x7000, 0x1800, 3, 512}),
            "[rdma3] ibmr_iova 5000 iova 6000 user_base 7000 length 1800 sg_nents 3 sg_offset 512");
}

}  // namespace
}  // namespace hcasim::sim::ftrace
