// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "folder.hpp"
#include "hcasim/sim/input_error.hpp"
#include "sim/record/output_directory.hpp"
#include "support/file_size_limit.hpp"

namespace hcasim::sim::test {
namespace {

std::string error_of(const std::filesystem::path& folder) {
  try {
    const OutputDirectory directory(folder);
  } catch (const OutputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(OutputDirectory, MakesFoldersAndWritesWholeFiles) {
  const Folder folder;
  const OutputDirectory directory(folder / "new/deep");
  directory.write("stats.json", "{}\n");
  EXPECT_EQ(text_of(directory.stats_json()), "{}\n");
  directory.write("stats.json", "{\"again\": 1}\n");
  EXPECT_EQ(text_of(folder / "new/deep/stats.json"), "{\"again\": 1}\n");
  EXPECT_EQ(directory.completions_csv(), folder / "new/deep/completions.csv");
  EXPECT_EQ(directory.config_toml(), folder / "new/deep/config.toml");
}

TEST(OutputDirectory, LongTextsArriveWhole) {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i) + '\n';
  OutputDirectory(folder.path()).write("config.toml", text);
  EXPECT_EQ(text_of(folder / "config.toml"), text);
}

TEST(OutputDirectory, AFileIsNoFolder) {
  const Folder folder;
  std::ofstream(folder / "file") << "x";
  EXPECT_EQ(error_of(folder / "file"),
            (folder / "file").string() + ": cannot write: Not a directory");
  EXPECT_EQ(error_of(folder / "file/below"),
            (folder / "file/below").string() + ": cannot write: Not a directory");
}

TEST(OutputDirectory, AFolderThatCannotBeMade) {
  EXPECT_EQ(error_of("/proc/hcasim"), "/proc/hcasim: cannot write: No such file or directory");
  EXPECT_THROW(OutputDirectory(""), OutputError);
}

TEST(OutputDirectory, FoldersThatStayedEmptyGoAgain) {
  const Folder folder;
  { const OutputDirectory directory(folder / "a/b/c"); }
  EXPECT_EQ(folder.files(), 0u);
  std::filesystem::create_directory(folder / "a");
  { OutputDirectory(folder / "a/b/c").write("stats.json", "{}"); }
  { const OutputDirectory directory(folder / "a/d"); }
  EXPECT_EQ(text_of(folder / "a/b/c/stats.json"), "{}");
  EXPECT_FALSE(std::filesystem::exists(folder / "a/d"));
}

TEST(OutputDirectory, AFullDiskLeavesTheOldFile) {
  const Folder folder;
  const OutputDirectory directory(folder.path());
  directory.write("stats.json", "old");
  const support::FileSizeLimit full(0);
  EXPECT_THROW(directory.write("stats.json", "new"), OutputError);
  EXPECT_EQ(text_of(folder / "stats.json"), "old");
  EXPECT_EQ(folder.files(), 1u);
}

TEST(OutputDirectory, AFolderInTheFilesPlaceStays) {
  const Folder folder;
  std::filesystem::create_directory(folder / "stats.json");
  EXPECT_THROW(OutputDirectory(folder.path()).write("stats.json", "x"), OutputError);
  EXPECT_EQ(folder.files(), 1u);
}

}  // namespace
}  // namespace hcasim::sim::test
