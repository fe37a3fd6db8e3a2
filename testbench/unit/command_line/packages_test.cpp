// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// tools/install-packages, on a machine of which dpkg-query, apt-get and id are stand-ins.
#include "program.hpp"

namespace hcasim::test {
namespace {

class Packages : public testing::Test {
 protected:
  Packages() {
    // Installed is what has a file in `installed`; apt-get writes one unless the package is
    // listed in `unavailable`, and fails as a whole if one is, as the real one does.
    script("dpkg-query", "for last; do :; done; [ -e " + dir() +
                             "/installed/$last ] && "
                             "echo -n installed");
    script("id", "echo 0");
    script("apt-get",
           "echo \"$@\" >>" + dir() +
               "/log\n"
               "names=; for word; do case $word in install|update|-*|*::*) ;; *) names=\"$names "
               "$word\";; esac; done\n"
               "for name in $names; do grep -qsx $name " +
               dir() +
               "/unavailable && exit 100; done\n"
               "for name in $names; do : >" +
               dir() + "/installed/$name; done");
    std::filesystem::create_directories(dir() + "/installed");
  }

  std::string dir() const { return scratch_.file("machine"); }

  void script(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(dir() + "/bin");
    const std::string path = dir() + "/bin/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::all);
  }

  Outcome install(const std::string& tags) const {
    return run("PATH=" + dir() + "/bin:$PATH " HCASIM_SOURCE_DIR "/tools/install-packages " + tags);
  }

  bool installed(const std::string& name) const {
    return std::filesystem::exists(dir() + "/installed/" + name);
  }

 private:
  const Scratch scratch_;
};

TEST_F(Packages, OfTheTagAreInstalled) {
  const Outcome outcome = install("build");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(installed("libsystemc-dev"));
  EXPECT_FALSE(installed("libgtest-dev"));
  EXPECT_EQ(install("build check").status, 0);
  EXPECT_TRUE(installed("libgtest-dev"));
}

TEST_F(Packages, NothingMissingMeansNoApt) {
  install("build");
  std::filesystem::remove(dir() + "/log");
  const Outcome outcome = install("build");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out + outcome.err, "");
  EXPECT_FALSE(std::filesystem::exists(dir() + "/log"));
}

TEST_F(Packages, OneThatCannotBeHadIsNamedAndTheOthersCome) {
  std::ofstream(dir() + "/unavailable") << "libcli11-dev\n";
  const Outcome outcome = install("build");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, testing::HasSubstr("could not be installed: libcli11-dev\n"));
  EXPECT_TRUE(installed("libsystemc-dev"));
}

TEST_F(Packages, AreNeverAskedForInteractively) {
  install("build");
  EXPECT_THAT(contents(dir() + "/log"), testing::HasSubstr("--yes"));
}

TEST_F(Packages, WithoutRootTheCommandForAnAdministratorIsTold) {
  script("id", "echo 1000");
  script("sudo", "exit 1");
  const Outcome outcome = install("build");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, testing::HasSubstr("as root, run: apt-get install g++ cmake"));
}

}  // namespace
}  // namespace hcasim::test
