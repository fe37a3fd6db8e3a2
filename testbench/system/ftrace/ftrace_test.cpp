// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The tracepoints of a run, imported and run again: the same posts with the same ends.
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <tuple>

#include "sim/ftrace/format.hpp"
#include "sim/ftrace/parse.hpp"
#include "support/seed.hpp"
#include "unit/command_line/program.hpp"

namespace hcasim::test {
namespace {

using sim::ftrace::EventKind;

/// What one queue pair did, as text: its posts, ends of sends and ends of receives in order.
struct Life {
  std::vector<std::string> posts;
  std::vector<std::string> sends;
  std::vector<std::string> receives;

  auto operator<=>(const Life&) const = default;
};

/// Calls `action(line, event)` for each tracepoint of a file.
template <typename Action>
void for_each_event(const std::string& path, Action action) {
  std::ifstream file(path);
  for (std::string text; std::getline(file, text);) {
    const sim::ftrace::Line line = sim::ftrace::parse_line(text);
    if (line.kind == sim::ftrace::LineKind::kHeader) continue;
    const auto kind = sim::ftrace::kind_of(line.event);
    ASSERT_TRUE(kind) << text;
    action(line, sim::ftrace::parse_event(*kind, line));
  }
}

/// By device, in the order in which its queue pairs got their numbers; idle ones are left out.
std::map<std::string, std::vector<Life>> lives_of(const std::string& path) {
  std::map<std::pair<std::string, std::uint32_t>, Life> found;
  const auto text = [](auto... numbers) {
    std::string joined;
    ((joined += std::to_string(numbers) + ' '), ...);
    return joined;
  };
  for_each_event(path, [&](const auto&, const sim::ftrace::Event& event) {
    if (const auto* post = std::get_if<sim::ftrace::PostOneWr>(&event.fields)) {
      found[{std::string(event.dev), post->qpn}].posts.push_back(
          text(post->opcode, post->length, post->send_flags, post->qpt));
    }
    if (event.kind != EventKind::kCqEnter) return;
    const auto& entry = std::get<sim::ftrace::CqEntry>(event.fields);
    Life& life = found[{std::string(event.dev), entry.qpn}];
    const bool failed = entry.status != 0;
    (entry.opcode >= 128 ? life.receives : life.sends)
        .push_back(text(entry.status, entry.opcode, failed ? 0 : entry.length, entry.flags));
  });
  std::map<std::string, std::vector<Life>> lives;
  for (auto& [key, life] : found) lives[key.first].push_back(std::move(life));
  return lives;
}

class Tracepoints : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return scratch_.file(name); }

  void run_to(const std::string& trace, const std::string& out, const std::string& more = {}) {
    const Outcome ran = hcasim("run " + trace + " --ftrace " + out + ' ' + more);
    ASSERT_EQ(ran.status, 0) << trace << ": " << ran.err;
  }

  /// Runs a trace and what is imported from its tracepoints, which must come to the same.
  /// A peer that the import made up is not looked at.
  void expect_same_work(const std::string& trace, const std::string& options = {}) {
    SCOPED_TRACE(trace + options);
    run_to(trace, file("first.txt"));
    const Outcome imported =
        hcasim("import " + file("first.txt") + " -o " + file("again.trace") + options);
    ASSERT_EQ(imported.status, 0) << imported.err;
    run_to(file("again.trace"), file("second.txt"));
    const auto before = lives_of(file("first.txt"));
    auto after = lives_of(file("second.txt"));
    ASSERT_FALSE(before.empty());
    std::erase_if(after, [&](const auto& it) { return !before.contains(it.first); });
    EXPECT_EQ(before.size(), after.size());
    for (const auto& [device, lives] : before) {
      EXPECT_EQ(lives.size(), after[device].size()) << device;
      EXPECT_TRUE(lives == after[device]) << device << ": see\n"
                                          << difference(lives, after[device]);
    }
  }

  static std::string difference(const std::vector<Life>& before, const std::vector<Life>& after) {
    std::ostringstream text;
    for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
      if (before[i] == after[i]) continue;
      text << "queue pair " << i << '\n';
      const auto print = [&](const char* what, const auto& a, const auto& b) {
        text << what << ": " << testing::PrintToString(a) << "\n and " << testing::PrintToString(b)
             << '\n';
      };
      print("posts", before[i].posts, after[i].posts);
      print("sends", before[i].sends, after[i].sends);
      print("receives", before[i].receives, after[i].receives);
    }
    return text.str();
  }

  void write_trace(const std::vector<std::string>& lines) {
    std::ofstream stream(file("it.trace"));
    stream << "hcasim-trace 1\n";
    for (const std::string& line : lines) stream << line << '\n';
  }

 private:
  const Scratch scratch_;
};

TEST_F(Tracepoints, ShippedTracesDoTheSameAgain) {
  int tried = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HCASIM_SOURCE_DIR "/traces/hand")) {
    if (entry.path().extension() != ".trace") continue;
    expect_same_work(entry.path());
    ++tried;
  }
  EXPECT_GE(tried, 14);
}

TEST_F(Tracepoints, OtherPoliciesDoTheSameAgain) {
  const std::string folder = HCASIM_SOURCE_DIR "/traces/hand/";
  for (const char* name : {"storage", "counters", "receiver-not-ready"}) {
    expect_same_work(folder + name + ".trace", " --timing asap");
    expect_same_work(folder + name + ".trace", " --receives as-seen");
  }
}

/// A trace of several connections with sends of all kinds.
std::vector<std::string> random_lines(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  const char* const kOpcodes[] = {"SEND",
                                  "SEND_WITH_IMM imm=7",
                                  "RDMA_WRITE remote=mr:0",
                                  "RDMA_WRITE_WITH_IMM remote=mr:0 imm=9",
                                  "RDMA_READ remote=mr:0",
                                  "ATOMIC_FETCH_AND_ADD remote=mr:0 add=1"};
  std::vector<std::string> lines = {"node a", "node b"};
  const std::uint64_t connections = 1 + below(3);
  for (std::uint64_t i = 0; i < connections; ++i) {
    const std::string qp = "q" + std::to_string(i);
    lines.push_back("connect a." + qp + " b." + qp +
                    " mr_length=8192 mtu=" + std::to_string(256 << below(5)));
  }
  std::uint64_t time = 10;
  for (std::uint64_t i = 20 + below(60); i > 0; --i) {
    const std::string qp = " q" + std::to_string(below(connections));
    const bool from_a = below(2) == 0;
    const std::uint64_t kind = below(6);
    const bool atomic = kind == 5;
    const std::string length = " length=" + std::to_string(atomic ? 8 : below(5000));
    std::string post = std::string(from_a ? "a" : "b") + " post_send" + qp + ' ' + kOpcodes[kind] +
                       length + " at=" + std::to_string(time += below(20)) + "us";
    if (below(3) == 0) post += " unsignaled";
    if (below(4) == 0) post += " fence";
    const bool receives = kind < 2 || kind == 3;
    if (receives && below(3) == 0) post += " solicited";
    if (receives) {
      lines.push_back(std::string(from_a ? "b" : "a") + " post_recv" + qp + " length=8192");
    }
    lines.push_back(post);
  }
  // The last send of each queue tells the end of those before it.
  for (std::uint64_t i = 0; i < connections; ++i) {
    for (const char* node : {"a", "b"}) {
      lines.push_back(node + std::string(" post_send q") + std::to_string(i) +
                      " RDMA_WRITE remote=mr:0 length=1 at=" + std::to_string(time + 100) + "us");
    }
  }
  return lines;
}

TEST_F(Tracepoints, RandomTracesDoTheSameAgain) {
  std::mt19937_64 random(support::test_seed(5));
  for (int run = 0; run < 8; ++run) {
    write_trace(random_lines(random));
    expect_same_work(file("it.trace"));
    if (HasFailure()) {
      std::cout << contents(file("it.trace"));
      return;
    }
  }
}

// By the driver: no adapter sends a packet, neither in the first run nor in the second.
TEST_F(Tracepoints, LoopedBackMessagesAreLoopedBackAgain) {
  for (const char* type : {"RC", "UC"}) {
    write_trace({std::string("connect a.q a.r type=") + type,
                 "connect a.s a.t type=" + std::string(type), "a post_recv r length=64 label=there",
                 "a post_recv q length=64", "a post_recv t length=5000",
                 "a post_send q SEND length=64 at=10us",
                 "a post_send r SEND_WITH_IMM imm=5 length=32 after=there solicited",
                 "a post_send s RDMA_WRITE_WITH_IMM imm=6 remote=mr:0 length=5000 at=30us",
                 "a post_send s RDMA_WRITE remote=mr:0 length=5000 at=40us"});
    expect_same_work(file("it.trace"));
    const auto counted = [&](const std::string& trace) {
      const Outcome ran = hcasim("run " + trace + " --out " + file("out"));
      EXPECT_EQ(ran.status, 0) << ran.err;
      const auto counters = nlohmann::json::parse(contents(file("out/stats.json")))["counters"];
      EXPECT_EQ(counters.size(), 1U);
      return counters.front();
    };
    const auto before = counted(file("it.trace"));
    const auto after = counted(file("again.trace"));
    EXPECT_EQ(before["rvt"], after["rvt"]);
    EXPECT_EQ(after["rvt"]["n_loop_pkts"], 4);
  }
}

TEST_F(Tracepoints, FlushesAndErrorsHappenAgain) {
  write_trace({"connect a.q b.q rnr_retry=2 min_rnr_timer=1", "connect a.r b.r",
               "b post_recv q length=64", "b post_recv r length=64", "b post_recv r length=64",
               "a post_send q SEND length=64 at=10us", "a post_send q SEND length=64 at=20us",
               "a post_send q SEND length=64 at=20us", "a post_send r SEND length=65 at=30us"});
  expect_same_work(file("it.trace"));
  write_trace({"connect a.q b.q", "a post_recv q length=64", "b post_recv q length=64",
               "b post_recv q length=64", "a post_send q SEND length=64 at=10us label=x",
               "b modify_qp q state=ERR at=50us"});
  expect_same_work(file("it.trace"));
}

TEST_F(Tracepoints, FlushesAndErrorsOfLoopedBackMessagesHappenAgain) {
  write_trace({"connect a.q a.r rnr_retry=2 min_rnr_timer=1", "connect a.s a.t",
               "a post_recv r length=64", "a post_recv t length=64", "a post_recv t length=64",
               "a post_send q SEND length=64 at=10us", "a post_send q SEND length=64 at=20us",
               "a post_send q SEND length=64 at=20us", "a post_send s SEND length=65 at=30us"});
  expect_same_work(file("it.trace"));
}

TEST_F(Tracepoints, TheOrderOfTheEnginesDoesNotShow) {
  const std::string trace = HCASIM_SOURCE_DIR "/traces/hand/srq.trace";
  run_to(trace, file("ahead.txt"));
  run_to(trace, file("in_step.txt"), "--no-run-ahead");
  EXPECT_EQ(contents(file("ahead.txt")), contents(file("in_step.txt")));
}

TEST_F(Tracepoints, TimesDoNotStepBackAndTheEpochIsMarked) {
  run_to(HCASIM_SOURCE_DIR "/traces/hand/counters.trace", file("it.txt"));
  EXPECT_THAT(contents(file("it.txt")), testing::HasSubstr("\n# the epoch of the results is at "));
  std::uint64_t latest = 0;
  for_each_event(file("it.txt"), [&](const sim::ftrace::Line& line, const auto& event) {
    EXPECT_GE(line.time, latest);
    latest = line.time;
    EXPECT_EQ(event.dev, "hcasim" + std::to_string(line.cpu));
    EXPECT_EQ(line.pid, line.cpu + 1);
  });
}

// Two pauses of 10 us and the end of each, in the order of rdmavt; nothing else waits.
TEST_F(Tracepoints, PausesAfterRnrNaksAreThoseOfTheWire) {
  write_trace({"connect a.q b.q min_rnr_timer=1", "a post_send q SEND length=64 at=1us",
               "b post_recv q length=64 at=16us"});
  run_to(file("it.trace"), file("it.txt"));
  std::vector<std::pair<std::string, std::uint64_t>> seen;
  for_each_event(file("it.txt"), [&](const sim::ftrace::Line& line, const auto& event) {
    const auto* rnr = std::get_if<sim::ftrace::RnrNak>(&event.fields);
    if (rnr == nullptr) return;
    seen.emplace_back(line.event, line.time);
    const bool add = event.kind == EventKind::kRnrNakAdd;
    EXPECT_EQ(rnr->to, add ? 10U : 0U);
    EXPECT_EQ(rnr->s_flags & 0x80, add ? 0x80U : 0U);
  });
  ASSERT_EQ(seen.size(), 6U);
  for (std::size_t i = 0; i < 6; i += 3) {
    EXPECT_EQ(seen[i].first, "rvt_rnrnak_add");
    EXPECT_EQ(seen[i + 1].first, "rvt_rnrnak_stop");
    EXPECT_EQ(seen[i + 2].first, "rvt_rnrnak_timeout");
    EXPECT_EQ(seen[i + 1].second - seen[i].second, 10'000U);
  }
}

TEST_F(Tracepoints, AnAckTimerThatExpiresSaysWhereItBeginsAgain) {
  write_trace({"connect a.q b.q timeout=1 psn=0x100,0x200",
               "a post_send q RDMA_WRITE remote=mr:0 "
               "length=3000 at=1us"});
  run_to(file("it.trace"), file("it.txt"), "--set fabric.faults.loss=0.9 --seed 3");
  int timeouts = 0;
  for_each_event(file("it.txt"), [&](const auto&, const sim::ftrace::Event& event) {
    const auto* fields = std::get_if<sim::ftrace::RcTimeout>(&event.fields);
    if (fields == nullptr) return;
    ++timeouts;
    EXPECT_GE(fields->psn, 0x100U);
    EXPECT_LE(fields->psn, 0x102U);
    EXPECT_EQ(fields->s_next_psn, 0x103U);
    EXPECT_EQ(fields->r_psn, 0x200U);
  });
  EXPECT_GE(timeouts, 1);
}

TEST_F(Tracepoints, TheReportIsJson) {
  run_to(HCASIM_SOURCE_DIR "/traces/hand/receiver-not-ready.trace", file("it.txt"));
  const Outcome outcome = hcasim("import --json " + file("it.txt") + " -o " + file("t.trace"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["form"], "the kernel's text");
  EXPECT_EQ(json["posts"], nlohmann::json::parse(R"({"SEND": 1})"));
  EXPECT_EQ(json["queue_pairs"]["paired"], 2);
  EXPECT_EQ(json["rnr_waits"], 3);
  EXPECT_EQ(json["left_out"]["unfinished"], 0);
  EXPECT_EQ(json["trace"]["receives"], 1);
}

TEST_F(Tracepoints, BadTextHasAPlace) {
  std::ofstream(file("bad.txt")) << "cpus=1\n t-1 [000] 1.5: rvt_qpinsert: [x] qpn 0x1 bucket z\n"
                                 << " t-1 [000] 1.6: rvt_qpinsert: [x] qpn 0x1 bucket 1\n";
  expect_refused("import " + file("bad.txt") + " -o " + file("t.trace"),
                 "bad.txt:2:50: expected a decimal number of at most 32 bits, found 'z'");
  EXPECT_FALSE(std::filesystem::exists(file("t.trace")));
  expect_refused("import " + file("bad.txt") + " " + file("bad.txt") + " -o " + file("t.trace"),
                 "tracepoints are imported by themselves");
  expect_refused("run " HCASIM_SOURCE_DIR "/traces/hand/srq.trace --ftrace " + file("no/such"),
                 "cannot write");
}

TEST_F(Tracepoints, APipeWillDo) {
  run_to(HCASIM_SOURCE_DIR "/traces/hand/ping-pong.trace", file("it.txt"));
  const Outcome outcome = run("cat " + file("it.txt") +
                              " | " HCASIM_PROGRAM " import /proc/self/fd/0 -o " + file("t.trace"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, testing::HasSubstr("posts          SEND 6"));
}

}  // namespace
}  // namespace hcasim::test
