// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/import/capture_merge.hpp"

#include <algorithm>

#include "sim/import/capture_clocks.hpp"
#include "sim/import/link_layer.hpp"

namespace hcasim::sim {

namespace {

constexpr std::int64_t kMaxSecondsApart = std::int64_t{100} * 24 * 3600;

void check_link_type(const std::filesystem::path& file, const fabric::CaptureReader& reader) {
  if (link_type_known(reader.link_type())) return;
  throw fabric::CaptureError(
      file, "link type " + reader.link_type_text() +
                " is not read; Ethernet (1), Linux cooked (113, 276) and ERF (197) are");
}

// To compare clocks a capture is read twice.
void check_regular(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored) || std::filesystem::is_regular_file(file, ignored)) {
    return;
  }
  throw fabric::CaptureError(file, "is no regular file, as each of several captures must be");
}

// What both ends see alike: link addresses, hop limits and congestion marks change on the way.
fabric::PacketHeaders lasting(const fabric::Packet& packet) {
  fabric::PacketHeaders headers = packet;
  headers.fecn = headers.becn = false;
  headers.reserved_6 = headers.reserved_7 = 0;
  headers.address = {};
  headers.address.src_gid = packet.address.src_gid;
  headers.address.dst_gid = packet.address.dst_gid;
  headers.address.udp_src_port = packet.address.udp_src_port;
  return headers;
}

}  // namespace

CaptureMerge::CaptureMerge(std::span<const std::filesystem::path> files) {
  for (const std::filesystem::path& file : files) {
    if (files.size() > 1) check_regular(file);
    Source& source = sources_.emplace_back(file);
    check_link_type(file, source.reader);
    advance(source);
  }
  find_start();
  for (std::size_t i = 1; i < sources_.size(); ++i) {
    Source& source = sources_[i];
    if (source.open) source.offset -= clock_difference(files[0], source.file);
  }
}

// A capture without records does not count.
void CaptureMerge::find_start() {
  const auto before = [](const Source& a, const Source& b) {
    const auto start = [](const Source& source) {
      return std::tuple(!source.open, source.reader.start_seconds(),
                        source.reader.start_nanoseconds());
    };
    return start(a) < start(b);
  };
  const Source& first = *std::ranges::min_element(sources_, before);
  start_seconds_ = first.reader.start_seconds();
  start_nanoseconds_ = first.reader.start_nanoseconds();
  for (Source& source : sources_) {
    if (!source.open) continue;
    const std::int64_t seconds = source.reader.start_seconds() - start_seconds_;
    if (seconds > kMaxSecondsApart) {
      throw fabric::CaptureError(source.file, "begins more than 100 days after " +
                                                  first.file.string() +
                                                  ": not a capture of the same traffic");
    }
    source.offset = seconds * hw::kSecond +
                    (source.reader.start_nanoseconds() - start_nanoseconds_) * hw::kNanosecond;
  }
}

bool CaptureMerge::next(MergedFrame& merged) {
  if (taken_ != nullptr) advance(*taken_);
  taken_ = nullptr;
  hw::Time earliest = 0;
  for (Source& source : sources_) {
    if (!source.open) continue;
    const hw::Time time = source.frame.time + source.offset;
    if (taken_ != nullptr && time >= earliest) continue;
    taken_ = &source;
    earliest = time;
  }
  if (taken_ == nullptr) return false;
  merged.frame = taken_->frame;
  merged.frame.number = ++frames_;
  merged.frame.time = earliest;
  merged.capture = static_cast<std::size_t>(
      std::ranges::find_if(sources_, [&](const Source& it) { return &it == taken_; }) -
      sources_.begin());
  merged.link_type = taken_->reader.link_type();
  return true;
}

bool TwinFilter::seen_before(const fabric::Packet& packet, std::size_t capture, hw::Time time) {
  if (captures_ == 1) return false;
  forget_before(time - window_);
  const Key key{packet.dest_qp, packet.psn};
  const fabric::PacketHeaders headers = lasting(packet);
  std::deque<Sight>& sights = sights_[key];
  for (Sight& sight : sights) {
    if (sight.captures[capture] || sight.payload != packet.payload_size()) continue;
    if (!(sight.headers == headers)) continue;
    sight.captures[capture] = true;
    return true;
  }
  sights.push_back({headers, packet.payload_size(), std::vector<bool>(captures_)});
  sights.back().captures[capture] = true;
  in_order_.emplace_back(time, key);
  return false;
}

void TwinFilter::forget_before(hw::Time time) {
  while (!in_order_.empty() && in_order_.front().first < time) {
    const auto found = sights_.find(in_order_.front().second);
    found->second.pop_front();
    if (found->second.empty()) sights_.erase(found);
    in_order_.pop_front();
  }
}

}  // namespace hcasim::sim
