// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The page for users of the driver shows the example that is built and run.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace {

std::string text_of(const char* path) {
  std::ifstream file(std::string(HCASIM_SOURCE_DIR "/") + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ApiPage, ShowsTheExample) {
  const std::string code = text_of("tools/examples/verbs_tour/main.cpp");
  const std::size_t begin = code.find("#include");
  ASSERT_NE(begin, std::string::npos);
  EXPECT_NE(text_of("model/driver/API.md").find("```cpp\n" + code.substr(begin) + "```\n"),
            std::string::npos);
}

}  // namespace
