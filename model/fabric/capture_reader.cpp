// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include <pcap/pcap.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "fabric/capture_file.hpp"

namespace hcasim::fabric {

namespace {

constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;

// Picoseconds in 64 bits reach 106 days; a stamp further away is a broken one.
constexpr std::int64_t kMaxSeconds = std::int64_t{100} * 24 * 3600;

}  // namespace

struct CaptureReader::Handle {
  explicit Handle(pcap_t* opened) : pcap(opened) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { pcap_close(pcap); }

  pcap_t* pcap;
};

CaptureReader::CaptureReader(const std::filesystem::path& file) : file_(file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) throw CaptureError(file, "is a directory");
  // libpcap itself would take the name "-" for standard input.
  std::FILE* const stream = std::fopen(file.c_str(), "rb");
  if (stream == nullptr) throw CaptureError(file, std::strerror(errno));
  if (const int first = std::fgetc(stream); first == EOF) {
    std::fclose(stream);
    throw CaptureError(file, "the file is empty");
  } else {
    std::ungetc(first, stream);
  }
  std::array<char, PCAP_ERRBUF_SIZE> reason{};
  pcap_t* const pcap =
      pcap_fopen_offline_with_tstamp_precision(stream, PCAP_TSTAMP_PRECISION_NANO, reason.data());
  if (pcap == nullptr) {
    std::fclose(stream);
    throw CaptureError(file, std::string("not a capture file: ") + reason.data());
  }
  handle_ = std::make_unique<Handle>(pcap);
}

CaptureReader::~CaptureReader() = default;

bool CaptureReader::next(CapturedFrame& frame) {
  pcap_pkthdr* header = nullptr;
  const u_char* bytes = nullptr;
  const int result = pcap_next_ex(handle_->pcap, &header, &bytes);
  if (result == PCAP_ERROR_BREAK) return false;
  if (result != 1) {
    throw CaptureError(file_,
                       "record " + std::to_string(count_ + 1) + ": " + pcap_geterr(handle_->pcap));
  }
  ++count_;
  frame.number = count_;
  frame.time = since_start(header->ts.tv_sec, header->ts.tv_usec);
  frame.original_bytes = header->len;
  frame.bytes = {bytes, header->caplen};
  return true;
}

LinkType CaptureReader::link_type() const {
  return static_cast<LinkType>(pcap_datalink(handle_->pcap));
}

// The library's number is not always the one in the file.
std::string CaptureReader::link_type_text() const {
  const int type = pcap_datalink(handle_->pcap);
  const char* const name = pcap_datalink_val_to_name(type);
  const char* const meaning = pcap_datalink_val_to_description(type);
  if (name == nullptr) return std::to_string(type);
  return meaning == nullptr ? name : std::string(name) + " (" + meaning + ")";
}

hw::Time CaptureReader::since_start(std::int64_t seconds, std::int64_t nanoseconds) {
  if (count_ == 1) {
    start_seconds_ = seconds;
    start_nanoseconds_ = nanoseconds;
  }
  std::int64_t whole = 0;
  if (__builtin_sub_overflow(seconds, start_seconds_, &whole) || whole > kMaxSeconds ||
      whole < -kMaxSeconds || nanoseconds < 0 || nanoseconds >= kNanosecondsPerSecond) {
    throw CaptureError(file_, "record " + std::to_string(count_) +
                                  ": time stamp more than 100 days from the first");
  }
  return whole * hw::kSecond + (nanoseconds - start_nanoseconds_) * hw::kNanosecond;
}

}  // namespace hcasim::fabric
