// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fabric/capture_file.hpp"

namespace hcasim::fabric {
namespace {

namespace fs = std::filesystem;

class CaptureFile : public testing::Test {
 protected:
  CaptureFile() : folder_(fs::temp_directory_path() / ("hcasim-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~CaptureFile() override { fs::remove_all(folder_); }

  fs::path file(const char* name) const { return folder_ / name; }

  /// Two records of 60 and 61 bytes.
  fs::path two_records() const {
    CaptureWriter writer(file("two.pcap"));
    writer.write(3 * hw::kSecond + 1 * hw::kNanosecond, std::vector<std::uint8_t>(60, 1));
    writer.write(5 * hw::kSecond + 7 * hw::kNanosecond, std::vector<std::uint8_t>(61, 2));
    writer.close();
    return file("two.pcap");
  }

  static std::string error_of(const fs::path& path) {
    try {
      CaptureReader reader(path);
      CapturedFrame frame;
      while (reader.next(frame)) {
      }
    } catch (const CaptureError& error) {
      return error.what();
    }
    return "no error";
  }

  fs::path folder_;
};

TEST_F(CaptureFile, ReadsWhatWasWritten) {
  CaptureReader reader(two_records());
  EXPECT_EQ(reader.link_type(), LinkType::kEthernet);
  CapturedFrame frame;
  ASSERT_TRUE(reader.next(frame));
  EXPECT_EQ(frame.time, 0);
  EXPECT_EQ(reader.start_seconds(), 3);
  EXPECT_EQ(reader.start_nanoseconds(), 1);
  ASSERT_TRUE(reader.next(frame));
  EXPECT_EQ(frame.number, 2u);
  EXPECT_EQ(frame.time, 2 * hw::kSecond + 6 * hw::kNanosecond);
  EXPECT_EQ(frame.original_bytes, 61u);
  ASSERT_EQ(frame.bytes.size(), 61u);
  EXPECT_EQ(frame.bytes[60], 2);
  EXPECT_FALSE(reader.next(frame));
}

TEST_F(CaptureFile, TakesItsNameOnlyWhenComplete) {
  {
    CaptureWriter writer(file("out.pcap"));
    EXPECT_TRUE(fs::exists(file("out.pcap.tmp")));
    EXPECT_FALSE(fs::exists(file("out.pcap")));
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(CaptureFile, SaysWhichRecordIsCutShort) {
  const fs::path path = two_records();
  fs::resize_file(path, fs::file_size(path) - 1);
  EXPECT_NE(error_of(path).find("two.pcap: record 2: truncated"), std::string::npos)
      << error_of(path);
}

TEST_F(CaptureFile, RefusesWhatIsNoCapture) {
  EXPECT_NE(error_of(file("missing")).find("No such file"), std::string::npos);
  EXPECT_NE(error_of(folder_).find("directory"), std::string::npos);
  std::ofstream(file("empty"));
  EXPECT_NE(error_of(file("empty")).find("empty"), std::string::npos);
  std::ofstream(file("text")) << "This is a text of more than twenty-four bytes.\n";
  EXPECT_NE(error_of(file("text")).find("not a capture file"), std::string::npos);
  std::ofstream(file("short")) << "\xd4\xc3\xb2\xa1";
  EXPECT_NE(error_of(file("short")).find("not a capture file"), std::string::npos);
}

TEST_F(CaptureFile, RefusesAnImpossibleTimeStamp) {
  {
    CaptureWriter writer(file("far.pcap"));
    const std::array<std::uint8_t, 60> bytes{};
    writer.write(0, bytes);
    writer.write(101 * 24 * 3600 * hw::kSecond, bytes);
    writer.close();
  }
  EXPECT_NE(error_of(file("far.pcap")).find("record 2: time stamp"), std::string::npos);
}

TEST_F(CaptureFile, ReportsAFullDisk) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  fs::create_symlink("/dev/full", file("out.pcap.tmp"));
  const auto write_all = [this] {
    CaptureWriter writer(file("out.pcap"));
    const std::vector<std::uint8_t> frame(1000);
    for (int i = 0; i < 100; ++i) writer.write(i, frame);
    writer.close();
  };
  EXPECT_THROW(write_all(), CaptureError);
  EXPECT_FALSE(fs::exists(file("out.pcap")));
  fs::create_symlink("/dev/full", file("small.pcap.tmp"));
  CaptureWriter writer(file("small.pcap"));
  writer.write(0, std::vector<std::uint8_t>(60));
  EXPECT_THROW(writer.close(), CaptureError);  // seen only when the buffer goes out
}

TEST_F(CaptureFile, NeedsAFolder) {
  EXPECT_THROW(CaptureWriter(file("nowhere/out.pcap")), CaptureError);
}

}  // namespace
}  // namespace hcasim::fabric
