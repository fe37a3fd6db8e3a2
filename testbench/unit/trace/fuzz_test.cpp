// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes are, reading ends in success or in an InputError of one line.
#include <gtest/gtest.h>

#include <fstream>

#include "random_trace.hpp"
#include "temporary_folder.hpp"
#include "trace_text.hpp"

namespace hcasim::sim {
namespace {

enum class Outcome { kGood, kRefused };

Outcome read_all(const std::string& bytes) {
  try {
    test::parse(bytes);
    return Outcome::kGood;
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    EXPECT_GE(error.column(), error.line() == 0 ? 0U : 1U);
    return Outcome::kRefused;
  }
}

std::string random_text(std::uint64_t seed, int count) {
  test::RandomTrace source(seed);
  std::string text = "hcasim-trace 1\nnode a\nnode b\n";
  for (int i = 0; i < count; ++i) {
    append_operation(text, source.next(), source.names());
    text += '\n';
  }
  return text;
}

void mutate(std::string& bytes, std::mt19937_64& random) {
  const std::size_t at = random() % bytes.size();
  switch (random() % 5) {
    case 0:
      bytes[at] = static_cast<char>(random());
      break;
    case 1:
      bytes.erase(at, random() % 8);
      break;
    case 2:
      bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 12));
      break;
    case 3:
      bytes[at] = " \t\n=:,.#0x+-"[random() % 12];
      break;
    default:
      bytes.resize(at + 1);
  }
}

TEST(TraceFuzz, RandomBytes) {
  std::mt19937_64 random(1);
  for (int run = 0; run < 3000; ++run) {
    std::string bytes = run % 2 == 0 ? "" : "hcasim-trace 1\nconnect a.q b.q\na post_send q ";
    for (std::size_t i = random() % 200; i > 0; --i) bytes += static_cast<char>(random());
    EXPECT_EQ(read_all(bytes), Outcome::kRefused);
  }
}

TEST(TraceFuzz, MutatedLines) {
  std::mt19937_64 random(2);
  int good = 0;
  int refused = 0;
  for (int run = 0; run < 3000; ++run) {
    std::string bytes = random_text(static_cast<std::uint64_t>(run % 50) + 1, 12);
    for (std::size_t i = random() % 3 + 1; i > 0; --i) mutate(bytes, random);
    (read_all(bytes) == Outcome::kGood ? good : refused)++;
  }
  EXPECT_GT(good, 100);
  EXPECT_GT(refused, 1000);
}

TEST(TraceFuzz, MutatedCompression) {
  test::TemporaryFolder folder;
  const auto path = folder.path() / "x.zst";
  test::RandomTrace source(3);
  TraceWriter writer(path, source.names());
  for (int i = 0; i < 300; ++i) writer.write(source.next());
  writer.close();
  std::ifstream file(path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  ASSERT_EQ(read_all(whole), Outcome::kGood);
  std::mt19937_64 random(4);
  for (int run = 0; run < 300; ++run) {
    std::string bytes = whole;
    mutate(bytes, random);
    // Another size of the window, behind four bytes of magic and a descriptor, may do as well.
    constexpr std::size_t kWindow = 5;
    if (bytes.size() == whole.size()) bytes[kWindow] = whole[kWindow];
    if (bytes == whole) continue;
    EXPECT_EQ(read_all(bytes), Outcome::kRefused);
  }
}

}  // namespace
}  // namespace hcasim::sim
