// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Files: complete under their name or not there at all, plain and compressed.
#include <gtest/gtest.h>
#include <zstd.h>

#include <fstream>

#include "random_trace.hpp"
#include "support/file_size_limit.hpp"
#include "temporary_folder.hpp"
#include "trace_text.hpp"

namespace hcasim::sim {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {(std::istreambuf_iterator<char>(file)), {}};
}

std::string compressed(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

void write_sample(const fs::path& path, int count) {
  test::RandomTrace source(11);
  TraceWriter writer(path, source.names());
  writer.comment("first\n\nthird");
  writer.assume({"depth", "16 (--depth)\nx"});
  writer.node(source.names().intern("a"));
  writer.node(source.names().intern("b"));
  for (int i = 0; i < count; ++i) writer.write(source.next());
  EXPECT_FALSE(fs::exists(path));
  writer.close();
}

TEST(TraceWriter, WritesHeadAndOperations) {
  test::TemporaryFolder folder;
  write_sample(folder.path() / "x.trace", 0);
  EXPECT_EQ(contents(folder.path() / "x.trace"),
            "hcasim-trace 1\n# first\n#\n# third\nassume depth = 16 (--depth) x\nnode a\nnode b\n");
  TraceReader reader(folder.path() / "x.trace");
  EXPECT_EQ(reader.assumptions().front().value, "16 (--depth) x");
  EXPECT_EQ(reader.nodes().size(), 2U);
}

TEST(TraceWriter, WritesTheHostThatIsShared) {
  test::TemporaryFolder folder;
  NameTable names;
  const NameId a = names.intern("a");
  TraceWriter writer(folder.path() / "x.trace", names);
  writer.node(a, a);
  writer.node(names.intern("b"), a);
  writer.close();
  EXPECT_EQ(contents(folder.path() / "x.trace"), "hcasim-trace 1\nnode a\nnode b host=a\n");
}

TEST(TraceWriter, CompressedAndPlainReadTheSame) {
  test::TemporaryFolder folder;
  write_sample(folder.path() / "x.trace", 5000);
  write_sample(folder.path() / "x.trace.zst", 5000);
  const std::string plain = contents(folder.path() / "x.trace");
  EXPECT_EQ(contents(folder.path() / "x.trace.zst").substr(0, 4), "\x28\xb5\x2f\xfd");
  EXPECT_LT(fs::file_size(folder.path() / "x.trace.zst"), plain.size() / 2);
  TraceReader one(folder.path() / "x.trace");
  TraceReader other(folder.path() / "x.trace.zst");
  Operation left;
  Operation right;
  int count = 0;
  while (one.next(left)) {
    ASSERT_TRUE(other.next(right));
    ASSERT_TRUE(left.same_as(right));
    ++count;
  }
  EXPECT_FALSE(other.next(right));
  EXPECT_EQ(count, 5000);
}

TEST(TraceWriter, NothingIsLeftWithoutClose) {
  test::TemporaryFolder folder;
  const fs::path path = folder.path() / "x.trace";
  {
    NameTable names;
    TraceWriter writer(path, names);
    writer.comment("x");
    EXPECT_FALSE(fs::is_empty(folder.path()));
    EXPECT_FALSE(fs::exists(path));
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(TraceWriter, OldFileStaysUntilTheNewOneIsComplete) {
  test::TemporaryFolder folder;
  const fs::path path = folder.path() / "x.trace";
  std::ofstream(path) << "old";
  NameTable names;
  {
    TraceWriter writer(path, names);
    writer.comment("x");
  }
  EXPECT_EQ(contents(path), "old");
  TraceWriter writer(path, names);
  writer.close();
  EXPECT_EQ(contents(path), "hcasim-trace 1\n");
  EXPECT_THROW(writer.close(), OutputError);
}

void expect_full_disk(const char* name, int lines) {
  test::TemporaryFolder folder;
  const fs::path path = folder.path() / name;
  const support::FileSizeLimit full(0);
  NameTable names;
  TraceWriter writer(path, names);
  try {
    std::mt19937_64 random(1);
    for (int i = 0; i < lines; ++i) writer.comment(std::to_string(random()));
    writer.close();
    FAIL() << "no error";
  } catch (const OutputError& error) {
    EXPECT_EQ(std::string(error.what()),
              path.string() + ": cannot write: " + support::FileSizeLimit::kReason);
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(TraceWriter, FullDiskIsReportedAtTheEnd) {
  expect_full_disk("x.trace", 1);
}
TEST(TraceWriter, FullDiskIsReportedOnTheWay) {
  expect_full_disk("x.trace", 100000);
}
TEST(TraceWriter, FullDiskIsReportedWhenCompressed) {
  expect_full_disk("x.trace.zst", 100000);
}

TEST(TraceWriter, FolderThatIsMissingOrInTheWay) {
  test::TemporaryFolder folder;
  NameTable names;
  EXPECT_THROW(TraceWriter(folder.path() / "no" / "x.trace", names), OutputError);
  fs::create_directory(folder.path() / "in-the-way");
  EXPECT_THROW(TraceWriter(folder.path() / "in-the-way", names), OutputError);
  EXPECT_TRUE(fs::is_empty(folder.path() / "in-the-way"));
}

TEST(TraceCompression, SeveralFramesAreOneTrace) {
  const std::string text = compressed("hcasim-trace 1\nconnect a.q") +
                           compressed(" b.q\na post_recv q length=1\n") + compressed("");
  EXPECT_EQ(test::parse(text).operations.size(), 2U);
}

TEST(TraceCompression, AFrameToBeSkippedMayComeFirst) {
  const std::string text = compressed("hcasim-trace 1\nconnect a.q b.q\n");
  for (const char kind : {'\x50', '\x5f'}) {
    const std::string skipped = kind + std::string("\x2a\x4d\x18\x03\0\0\0abc", 10);
    EXPECT_EQ(test::parse(skipped + text).operations.size(), 1U);
  }
}

TEST(TraceCompression, TruncationIsAnErrorAtTheLineReached) {
  std::string text = "hcasim-trace 1\nconnect a.q b.q\n";
  for (int i = 0; i < 20000; ++i) {
    text += "a post_recv q length=" + std::to_string(i * 7919 % 10007) + "\n";
  }
  const std::string whole = compressed(text);
  EXPECT_EQ(test::parse(whole).operations.size(), 20001U);
  for (const std::size_t size : {whole.size() - 1, whole.size() / 2, std::size_t{5}}) {
    try {
      test::parse(whole.substr(0, size));
      ADD_FAILURE() << "accepted " << size;
    } catch (const InputError& error) {
      EXPECT_EQ(error.expected(), "the rest of a zstd stream");
      EXPECT_EQ(error.found(), "end of file");
      EXPECT_GE(error.line(), 1U);
    }
  }
}

TEST(TraceCompression, DamageIsAnError) {
  std::string text = compressed("hcasim-trace 1\nconnect a.q b.q\n");
  text[4] = '\xff';
  EXPECT_THROW(test::parse(text), InputError);
}

}  // namespace
}  // namespace hcasim::sim
