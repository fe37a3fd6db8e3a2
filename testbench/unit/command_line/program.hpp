// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Runs the hcasim program as a person would, and keeps what it said. Its runs are held against the
// rules of the transport, see support/monitored_program.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace hcasim::test {

struct Outcome {
  int status;
  std::string out;
  std::string err;
};

inline std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A folder of the running test, empty at its start and removed at its end.
class Scratch {
 public:
  explicit Scratch(const std::string& use = "files") {
    const auto& info = *testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::path(testing::TempDir()) /
            ("hcasim_" + std::string(info.test_suite_name()) + "_" + info.name() + "_" + use);
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string file(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// The protocol monitors of the programs that begin in its life report to it, and have nothing to.
class MonitorReport {
 public:
  MonitorReport() { ::setenv("HCASIM_MONITOR", file().c_str(), 1); }
  ~MonitorReport() { EXPECT_EQ(contents(file()), ""); }
  MonitorReport(const MonitorReport&) = delete;
  MonitorReport& operator=(const MonitorReport&) = delete;

 private:
  std::string file() const { return scratch_.file("monitor"); }

  Scratch scratch_{"monitor"};
};

/// Runs a line for the shell. Its stdout goes to `out` in place of a file that is read back when
/// one is named.
inline Outcome run(const std::string& line, const std::string& out = {}) {
  const Scratch scratch("streams");
  const MonitorReport report;
  const std::string out_file = out.empty() ? scratch.file("out") : out;
  const std::string command =
      "{ " + line + "; } >" + out_file + " 2>" + scratch.file("err") + " </dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          out.empty() ? contents(out_file) : std::string{}, contents(scratch.file("err"))};
}

/// Runs `hcasim ARGUMENTS`.
inline Outcome hcasim(const std::string& arguments, const std::string& out = {}) {
  return run(std::string(HCASIM_PROGRAM) + " " + arguments, out);
}

/// Bad input or usage: status 2, nothing on stdout, one line on stderr that holds `text`.
inline void expect_refused(const std::string& arguments, const std::string& text) {
  const Outcome outcome = hcasim(arguments);
  SCOPED_TRACE("hcasim " + arguments);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, testing::StartsWith("hcasim: "));
  EXPECT_THAT(outcome.err, testing::HasSubstr(text));
  EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
}

}  // namespace hcasim::test
