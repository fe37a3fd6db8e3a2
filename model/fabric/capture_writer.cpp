// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include <pcap/pcap.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "fabric/capture_file.hpp"

namespace hcasim::fabric {

namespace {
constexpr int kSnapBytes = 262'144;  // what other tools write for "whole packets"
}

struct CaptureWriter::Handle {
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (dumper != nullptr) pcap_dump_close(dumper);
    if (pcap != nullptr) pcap_close(pcap);
  }

  pcap_t* pcap = nullptr;
  pcap_dumper_t* dumper = nullptr;
};

CaptureWriter::CaptureWriter(const std::filesystem::path& file)
    : file_(file), temporary_(file.string() + ".tmp"), handle_(std::make_unique<Handle>()) {
  std::FILE* const stream = std::fopen(temporary_.c_str(), "wb");
  check(stream != nullptr, "create");
  handle_->pcap =
      pcap_open_dead_with_tstamp_precision(DLT_EN10MB, kSnapBytes, PCAP_TSTAMP_PRECISION_NANO);
  if (handle_->pcap != nullptr) handle_->dumper = pcap_dump_fopen(handle_->pcap, stream);
  if (handle_->dumper == nullptr) {
    std::fclose(stream);
    check(false, "begin");
  }
}

CaptureWriter::~CaptureWriter() {
  if (handle_ == nullptr) return;
  handle_.reset();
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
}

void CaptureWriter::write(hw::Time time, std::span<const std::uint8_t> frame) {
  pcap_pkthdr header{};
  header.ts.tv_sec = time / hw::kSecond;
  header.ts.tv_usec = time % hw::kSecond / hw::kNanosecond;
  header.caplen = header.len = static_cast<bpf_u_int32>(frame.size());
  errno = 0;
  // libpcap's callback signature takes the dumper as bytes.
  pcap_dump(reinterpret_cast<u_char*>(handle_->dumper), &header, frame.data());
  check(std::ferror(pcap_dump_file(handle_->dumper)) == 0, "write");
}

void CaptureWriter::close() {
  errno = 0;
  check(pcap_dump_flush(handle_->dumper) == 0, "write");
  handle_.reset();
  std::error_code error;
  std::filesystem::rename(temporary_, file_, error);
  if (!error) return;
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
  throw CaptureError(file_, "cannot rename " + temporary_.string() + ": " + error.message());
}

void CaptureWriter::check(bool good, const char* doing) {
  if (good) return;
  const std::string reason = errno != 0 ? std::strerror(errno) : "error of the capture library";
  throw CaptureError(temporary_, std::string("cannot ") + doing + ": " + reason);
}

}  // namespace hcasim::fabric
