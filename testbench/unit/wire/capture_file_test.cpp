// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

#include "fabric/capture_file.hpp"
#include "hcasim/sim/input_error.hpp"
#include "support/file_size_limit.hpp"

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
    EXPECT_FALSE(fs::is_empty(folder_));
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
  std::ofstream(file("empty")).close();
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
    writer.write(hw::Time{101} * 24 * 3600 * hw::kSecond, bytes);
    writer.close();
  }
  EXPECT_NE(error_of(file("far.pcap")).find("record 2: time stamp"), std::string::npos);
}

TEST_F(CaptureFile, ReportsAFullDisk) {
  const support::FileSizeLimit full(0);
  const auto write_all = [this] {
    CaptureWriter writer(file("out.pcap"));
    const std::vector<std::uint8_t> frame(1000);
    for (int i = 0; i < 100; ++i) writer.write(i, frame);
    writer.close();
  };
  EXPECT_THROW(write_all(), sim::OutputError);
  EXPECT_TRUE(fs::is_empty(folder_));
  CaptureWriter writer(file("small.pcap"));
  writer.write(0, std::vector<std::uint8_t>(60));
  EXPECT_THROW(writer.close(), sim::OutputError);  // seen only when the buffer goes out
}

TEST_F(CaptureFile, NeedsAFolder) {
  EXPECT_THROW(CaptureWriter(file("nowhere/out.pcap")), sim::OutputError);
}

/// Bytes of a file that other programs wrote.
class Bytes {
 public:
  explicit Bytes(bool big_endian) : big_endian_(big_endian) {}
  Bytes& put(std::uint32_t value, int bytes = 4) {
    for (int i = 0; i < bytes; ++i) {
      const int shift = 8 * (big_endian_ ? bytes - 1 - i : i);
      text_ += static_cast<char>(value >> shift);
    }
    return *this;
  }
  Bytes& fill(std::size_t count) {
    text_.append(count, '\x05');
    return *this;
  }
  void save(const fs::path& path) const {
    std::ofstream(path, std::ios::binary).write(text_.data(), std::ssize(text_));
  }

 private:
  bool big_endian_;
  std::string text_;
};

TEST_F(CaptureFile, MayHaveMicrosecondsAndTheOtherByteOrder) {
  Bytes bytes(true);
  bytes.put(0xa1b2c3d4).put(2, 2).put(4, 2).put(0).put(0).put(65535).put(113);
  bytes.put(10).put(999'999).put(8).put(100).fill(8);
  bytes.put(11).put(1).put(4).put(4).fill(4);
  bytes.save(file("big.pcap"));
  CaptureReader reader(file("big.pcap"));
  EXPECT_EQ(reader.link_type(), LinkType::kLinuxCooked);
  CapturedFrame frame;
  ASSERT_TRUE(reader.next(frame));
  EXPECT_EQ(frame.bytes.size(), 8u);
  EXPECT_EQ(frame.original_bytes, 100u);
  ASSERT_TRUE(reader.next(frame));
  EXPECT_EQ(frame.time, 2 * hw::kMicrosecond);
  EXPECT_FALSE(reader.next(frame));
}

// A pcapng of ERF records with these stamps, of which a second has 10^digits.
void save_pcapng(const fs::path& path, std::uint32_t digits,
                 std::initializer_list<std::uint64_t> stamps) {
  Bytes bytes(false);
  bytes.put(0x0a0d0d0a).put(28).put(0x1a2b3c4d).put(1, 2).put(0, 2);
  bytes.put(0xffffffff).put(0xffffffff).put(28);
  bytes.put(1).put(32).put(197, 2).put(0, 2).put(0);
  bytes.put(9, 2).put(1, 2).put(digits).put(0, 2).put(0, 2).put(32);
  for (const std::uint64_t stamp : stamps) {
    bytes.put(6).put(36).put(0).put(static_cast<std::uint32_t>(stamp >> 32));
    bytes.put(static_cast<std::uint32_t>(stamp)).put(4).put(4).fill(4).put(36);
  }
  bytes.save(path);
}

TEST_F(CaptureFile, MayBePcapng) {
  save_pcapng(file("new.pcapng"), 9, {1000, 1003});
  CaptureReader reader(file("new.pcapng"));
  EXPECT_EQ(reader.link_type(), LinkType::kErf);
  CapturedFrame frame;
  ASSERT_TRUE(reader.next(frame));
  EXPECT_EQ(reader.start_nanoseconds(), 1000);
  ASSERT_TRUE(reader.next(frame));
  EXPECT_EQ(frame.time, 3 * hw::kNanosecond);
  EXPECT_FALSE(reader.next(frame));
}

TEST_F(CaptureFile, RefusesATimeStampThatIsTooFarForANumber) {
  save_pcapng(file("far.pcapng"), 0, {1, std::uint64_t{1} << 63});
  EXPECT_NE(error_of(file("far.pcapng")).find("record 2: time stamp"), std::string::npos);
}

}  // namespace
}  // namespace hcasim::fabric
