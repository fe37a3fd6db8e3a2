// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// A file gets its name when it is complete, and nothing else is touched.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "hcasim/sim/input_error.hpp"
#include "sim/output/output_file.hpp"
#include "sim/output/transient_name.hpp"
#include "support/device.hpp"
#include "support/file_size_limit.hpp"
#include "unit/record/folder.hpp"

namespace hcasim::sim::test {
namespace {

namespace fs = std::filesystem;

void put(const fs::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

void write(const fs::path& path, const std::string& text, OutputSet* set = nullptr) {
  OutputFile file(path, set);
  file.write(text);
  file.commit();
}

std::string error_of(const fs::path& path, const std::string& text = "x") {
  try {
    write(path, text);
  } catch (const OutputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(OutputFile, LeavesAlonePathsThatNobodyNamed) {
  const Folder folder;
  put(folder / "x.tmp", "mine");
  put(folder / ".x.tmp", "mine");
  OutputFile::check(folder / "x");
  { OutputFile never_committed(folder / "x"); }
  write(folder / "x", "new");
  EXPECT_EQ(text_of(folder / "x.tmp"), "mine");
  EXPECT_EQ(text_of(folder / ".x.tmp"), "mine");
  EXPECT_EQ(text_of(folder / "x"), "new");
  EXPECT_EQ(folder.files(), 3u);
}

TEST(OutputFile, HasTheRightsThatTheUmaskLeaves) {
  const Folder folder;
  const mode_t before = umask(027);
  write(folder / "x", "new");
  umask(before);
  EXPECT_EQ(fs::status(folder / "x").permissions(), fs::perms{0640});
}

TEST(OutputFile, NamesOfAnyLengthWork) {
  const Folder folder;
  write(folder / std::string(255, 'n'), "new");
  EXPECT_EQ(text_of(folder / std::string(255, 'n')), "new");
}

TEST(OutputFile, WritesToWhereALinkLeads) {
  const Folder folder;
  fs::create_directory(folder / "deep");
  put(folder / "deep/target", "old");
  fs::create_symlink("deep/target", folder / "link");
  fs::create_symlink("link", folder / "link_of_link");
  write(folder / "link_of_link", "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_TRUE(fs::is_symlink(folder / "link_of_link"));
  EXPECT_EQ(text_of(folder / "deep/target"), "new");
}

TEST(OutputFile, MakesWhatALinkPromises) {
  const Folder folder;
  fs::create_symlink("target", folder / "link");
  write(folder / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(text_of(folder / "target"), "new");
}

TEST(OutputFile, DevicesStayWhatTheyAre) {
  const Folder folder;
  if (!support::make_device(folder / "null", support::Device::kNull)) GTEST_SKIP() << "not root";
  ASSERT_TRUE(support::make_device(folder / "full", support::Device::kFull));
  OutputFile::check(folder / "null");
  write(folder / "null", "x");
  EXPECT_TRUE(fs::is_character_file(folder / "null"));
  fs::create_symlink("null", folder / "link");
  write(folder / "link", "x");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_TRUE(fs::is_character_file(folder / "null"));
  EXPECT_EQ(error_of(folder / "full"),
            (folder / "full").string() + ": cannot write: No space left on device");
}

TEST(OutputFile, PipesStayWhatTheyAre) {
  const Folder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  const int reader = ::open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
  OutputFile::check(folder / "pipe");
  write(folder / "pipe", "through");
  char text[8] = {};
  EXPECT_EQ(::read(reader, text, sizeof text), 7);
  EXPECT_STREQ(text, "through");
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(folder / "pipe"));
}

TEST(OutputFile, StandardOutputIsWrittenAndNotReplaced) {
  const Folder folder;
  const int before = ::dup(STDOUT_FILENO);
  const int file = ::open((folder / "out").c_str(), O_WRONLY | O_CREAT, 0600);
  ::dup2(file, STDOUT_FILENO);
  ASSERT_EQ(::write(STDOUT_FILENO, "first ", 6), 6);
  write("/proc/self/fd/1", "second ");
  ASSERT_EQ(::write(STDOUT_FILENO, "third", 5), 5);
  ::dup2(before, STDOUT_FILENO);
  ::close(before);
  ::close(file);
  EXPECT_EQ(text_of(folder / "out"), "first second third");
}

TEST(OutputFile, SaysWhatIsInTheWay) {
  const Folder folder;
  const std::string name = folder.path().string();
  EXPECT_EQ(error_of(folder.path()), name + ": cannot write: Is a directory");
  EXPECT_EQ(error_of(folder / "no/x"), name + "/no/x: cannot write: No such file or directory");
  EXPECT_EQ(folder.files(), 0u);
}

TEST(OutputFile, AFullDiskLeavesTheOldFile) {
  const Folder folder;
  put(folder / "x", "old");
  const support::FileSizeLimit full(100);
  EXPECT_NE(error_of(folder / "x", std::string(200'000, 'n')), "no error");
  EXPECT_EQ(text_of(folder / "x"), "old");
  EXPECT_EQ(folder.files(), 1u);
}

TEST(OutputSet, GivesNamesToAllOrToNone) {
  const Folder folder;
  put(folder / "a", "old");
  {
    OutputSet set;
    write(folder / "a", "new", &set);
    write(folder / "b", "new", &set);
    EXPECT_EQ(text_of(folder / "a"), "old");
  }
  EXPECT_EQ(text_of(folder / "a"), "old");
  EXPECT_EQ(folder.files(), 1u);
  OutputSet set;
  write(folder / "a", "new", &set);
  write(folder / "b", "new", &set);
  set.commit();
  EXPECT_EQ(text_of(folder / "a"), "new");
  EXPECT_EQ(text_of(folder / "b"), "new");
  EXPECT_EQ(folder.files(), 2u);
}

TEST(OutputSet, AFolderInTheWayOfTheLastStopsTheFirst) {
  const Folder folder;
  OutputSet set;
  write(folder / "a", "new", &set);
  write(folder / "b", "new", &set);
  fs::create_directory(folder / "b");
  EXPECT_THROW(set.commit(), OutputError);
  EXPECT_FALSE(fs::exists(folder / "a"));
}

TEST(TransientNames, AreRemovedAndNothingElse) {
  const Folder folder;
  put(folder / "stays", "x");
  fs::create_directories(folder / "made/deep");
  const TransientName outer((folder / "made").string());
  const TransientName inner((folder / "made/deep").string());
  write(folder / "done", "x");
  const OutputFile file(folder / "made/deep/x");
  EXPECT_FALSE(fs::is_empty(folder / "made/deep"));
  remove_transient_names();
  EXPECT_FALSE(fs::exists(folder / "made"));
  EXPECT_EQ(folder.files(), 2u);
}

}  // namespace
}  // namespace hcasim::sim::test
