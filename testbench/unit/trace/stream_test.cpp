// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Long traces: memory and allocations do not grow with the number of lines.
#include <gtest/gtest.h>

#include <fstream>
#include <istream>
#include <streambuf>

#include "trace_text.hpp"

namespace hcasim::sim {
namespace {

constexpr std::uint64_t kLines = 2'000'000;

// A trace of any length that is made up while it is read.
class EndlessText : public std::streambuf {
 public:
  explicit EndlessText(std::uint64_t lines) : left_(lines) {
    text_ = "hcasim-trace 1\nconnect a.q b.q\n";
    setg(text_.data(), text_.data(), text_.data() + text_.size());
  }

 protected:
  int_type underflow() override {
    if (left_ == 0) return traits_type::eof();
    text_.clear();
    for (int i = 0; i < 1000 && left_ > 0; ++i, --left_) {
      text_ += left_ % 2 == 0 ? "b post_recv q length=64 label=ping\n"
                              : "a post_send q RDMA_WRITE length=4096 remote=mr:64 unsignaled\n";
    }
    setg(text_.data(), text_.data(), text_.data() + text_.size());
    return traits_type::to_int_type(text_.front());
  }

 private:
  std::string text_;
  std::uint64_t left_;
};

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  file >> size >> resident;
  return resident * 4096;
}

TEST(TraceStream, MemoryStaysFlat) {
  EndlessText text(kLines);
  std::istream stream(&text);
  TraceReader reader(stream);
  Operation operation;
  std::uint64_t count = 0;
  std::uint64_t warm = 0;
  while (reader.next(operation)) {
    if (++count == kLines / 10) warm = resident_bytes();
  }
  EXPECT_EQ(count, kLines + 1);
  EXPECT_EQ(operation.line, kLines + 2);
  EXPECT_LT(resident_bytes(), warm + (std::uint64_t{1} << 20));
}

TEST(TraceStream, NamesAreStoredOnce) {
  EndlessText text(20'000);
  std::istream stream(&text);
  TraceReader reader(stream);
  Operation operation;
  while (reader.next(operation)) continue;
  EXPECT_EQ(reader.names().size(), 6U);  // a b q cq mr ping
}

}  // namespace
}  // namespace hcasim::sim
