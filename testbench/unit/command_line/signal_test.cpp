// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Signals end a run in good order, a second one at once; neither leaves anything half written.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "program.hpp"

namespace hcasim::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// Without a receive, and with retries without end: a run of many seconds.
constexpr std::string_view kLong =
    "hcasim-trace 1\n"
    "connect a.q b.q min_rnr_timer=1\n"
    "a post_send q SEND length=64\n";

class Signals : public testing::Test {
 protected:
  Signals() { std::ofstream(file("t.trace")) << kLong; }
  ~Signals() override {
    if (child_ > 0) ::kill(child_, SIGKILL);
  }

  std::string file(const std::string& name) const { return scratch_.file(name); }

  MonitorReport report_;

  /// Begins `hcasim ARGUMENTS` in the background, behind a command for the shell.
  void begin(const std::string& arguments, const std::string& before = ":") {
    const std::string line = before + "; exec " HCASIM_PROGRAM " " + arguments + " >" +
                             file("stdout") + " 2>" + file("stderr") + " </dev/null";
    child_ = ::fork();
    if (child_ == 0) {
      ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      ::_exit(127);
    }
  }

  /// Waits until some temporary file has begun to fill.
  void wait_for_output() const {
    wait_until([this] { return temporary_bytes() > 0; });
  }

  template <typename F>
  static void wait_until(F&& reached) {
    const auto limit = std::chrono::steady_clock::now() + 30s;
    while (!reached() && std::chrono::steady_clock::now() < limit) {
      std::this_thread::sleep_for(5ms);
    }
    ASSERT_TRUE(reached());
  }

  void send(int signal) const { ::kill(child_, signal); }

  int wait_for_end() {
    int status = 0;
    ::waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::uintmax_t temporary_bytes() const {
    std::uintmax_t bytes = 0;
    std::error_code gone;
    for (const auto& entry : fs::recursive_directory_iterator(file("."), gone)) {
      if (entry.path().extension() != ".tmp") continue;
      if (const std::uintmax_t size = entry.file_size(gone); !gone) bytes += std::max(size, bytes);
    }
    return bytes;
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(file("."))) {
      names.push_back(fs::relative(entry.path(), file(".")));
    }
    std::ranges::sort(names);
    return names;
  }

 private:
  const Scratch scratch_;
  pid_t child_ = -1;
};

/// Number of records; -1 when the last one is cut short.
int records_of(const std::string& capture) {
  int count = 0;
  std::size_t at = 24;
  for (; at + 16 <= capture.size(); ++count) {
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, &capture[at + 8], sizeof bytes);
    at += 16 + bytes;
  }
  return at == capture.size() ? count : -1;
}

TEST_F(Signals, EndARunWithPartialResults) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    begin("run " + file("t.trace") + " --json --out " + file("o/p") + " --pcap " + file("x.pcap"));
    wait_for_output();
    send(signal);
    EXPECT_EQ(wait_for_end(), 128 + signal);
    EXPECT_EQ(contents(file("stderr")), "");
    EXPECT_EQ(files(), (std::vector<std::string>{"o", "o/p", "o/p/completions.csv",
                                                 "o/p/config.toml", "o/p/stats.json", "stderr",
                                                 "stdout", "t.trace", "x.pcap"}));
    EXPECT_EQ(nlohmann::json::parse(contents(file("stdout"))).at("partial"), true);
    const auto stats = nlohmann::json::parse(contents(file("o/p/stats.json")));
    EXPECT_EQ(stats.at("partial"), true);
    EXPECT_EQ(stats.at("messages_unfinished"), 1);
    EXPECT_GT(stats.at("sim_time_ns"), 1e6);
    EXPECT_THAT(contents(file("o/p/completions.csv")), testing::HasSubstr(",UNFINISHED,"));
    EXPECT_GT(records_of(contents(file("x.pcap"))), 100);
    fs::remove_all(file("o"));
    fs::remove(file("x.pcap"));
  }
}

TEST_F(Signals, MarkTheSummary) {
  begin("run " + file("t.trace") + " --pcap " + file("x.pcap"));
  wait_for_output();
  send(SIGINT);
  EXPECT_EQ(wait_for_end(), 128 + SIGINT);
  EXPECT_THAT(contents(file("stdout")), testing::HasSubstr("partial     the run was cut short"));
}

TEST_F(Signals, ASecondOneEndsTheProgramAtOnce) {
  // Nobody reads the packets, so that the run cannot go on to where it would stop.
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  const int reader = ::open(file("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  begin("run " + file("t.trace") + " --out " + file("a/b") + " --pcap " + file("pipe"));
  wait_until([&] {
    char byte = 0;
    return ::read(reader, &byte, 1) == 1;
  });
  send(SIGTERM);
  send(SIGINT);
  EXPECT_THAT(wait_for_end(), testing::AnyOf(128 + SIGTERM, 128 + SIGINT));
  ::close(reader);
  EXPECT_EQ(files(), (std::vector<std::string>{"pipe", "stderr", "stdout", "t.trace"}));
  EXPECT_EQ(contents(file("stdout")), "");
}

TEST_F(Signals, EndAnImportAtOnce) {
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  begin("import " + file("pipe") + " -o " + file("out.trace"));
  const int writer = ::open(file("pipe").c_str(), O_WRONLY);  // returns when it is being read
  send(SIGTERM);
  EXPECT_EQ(wait_for_end(), 128 + SIGTERM);
  ::close(writer);
  EXPECT_EQ(files(), (std::vector<std::string>{"pipe", "stderr", "stdout", "t.trace"}));
}

TEST_F(Signals, ThatAreIgnoredStayIgnored) {
  begin("run " + file("t.trace") + " --pcap " + file("x.pcap"), "trap '' HUP");
  wait_for_output();
  send(SIGHUP);
  send(SIGTERM);
  EXPECT_EQ(wait_for_end(), 128 + SIGTERM);
}

}  // namespace
}  // namespace hcasim::test
