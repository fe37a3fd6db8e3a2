// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/output/file_roles.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "hcasim/sim/input_error.hpp"
#include "unit/record/folder.hpp"

namespace hcasim::sim::test {
namespace {

namespace fs = std::filesystem;

std::string error_of(FileRoles& roles, const fs::path& path) {
  try {
    roles.writes("--pcap", "the packets", path);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(FileRoles, NoOutputIsAnInputUnderAnyName) {
  const Folder folder;
  std::ofstream(folder / "in") << "x";
  fs::create_symlink("in", folder / "link");
  fs::create_hard_link(folder / "in", folder / "hard");
  fs::create_directory(folder / "deep");
  for (const char* name : {"in", "link", "hard", "./in", "deep/../in"}) {
    FileRoles roles;
    roles.reads("the trace", folder / "in");
    const fs::path path = folder / name;
    EXPECT_EQ(error_of(roles, path),
              "--pcap: expected a file other than the trace, found '" + path.string() + "'");
  }
  FileRoles roles;
  roles.reads("the trace", folder / "in");
  EXPECT_EQ(error_of(roles, folder / "out"), "no error");
}

TEST(FileRoles, OutputsThatAreNotYetThereAreToldApart) {
  const Folder folder;
  FileRoles roles;
  roles.writes("--out", "stats.json of --out", folder / "new/stats.json");
  EXPECT_EQ(error_of(roles, folder / "new/x.pcap"), "no error");
  EXPECT_NE(error_of(roles, folder / "new/./stats.json").find("stats.json of --out"),
            std::string::npos);
  fs::create_symlink("new/stats.json", folder / "link");
  EXPECT_NE(error_of(roles, folder / "link").find("stats.json of --out"), std::string::npos);
}

TEST(FileRoles, AFileForEachNodeIsNoneOfTheOthers) {
  const Folder folder;
  const auto refused = [&folder](const char* input) {
    FileRoles roles;
    roles.reads("the trace", folder / input);
    try {
      roles.writes_for_nodes("--record-rq", "the stimulus", folder / "./rq.stimulus");
    } catch (const InputError&) {
      return true;
    }
    return false;
  };
  EXPECT_TRUE(refused("rq-a.stimulus"));
  EXPECT_FALSE(refused("rq-.stimulus"));
  EXPECT_FALSE(refused("rq.trace"));
  EXPECT_FALSE(refused("in"));
}

TEST(FileRoles, ADeviceMayHaveSeveral) {
  FileRoles roles;
  roles.reads("the trace", "/dev/null");
  EXPECT_EQ(error_of(roles, "/dev/null"), "no error");
  EXPECT_EQ(error_of(roles, "/dev/null"), "no error");
}

}  // namespace
}  // namespace hcasim::sim::test
