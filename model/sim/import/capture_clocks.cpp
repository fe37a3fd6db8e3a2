// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/import/capture_clocks.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "fabric/capture_file.hpp"
#include "sim/import/link_layer.hpp"

namespace hcasim::sim {

namespace {

constexpr std::size_t kPacketsLookedAt = 100'000;

using Key = std::tuple<hw::Gid, std::uint32_t, std::uint32_t, hw::BthOpcode, std::size_t>;

struct Sight {
  hw::Time time = 0;
  bool once = true;
};

struct Survey {
  std::map<Key, Sight> sights;
  std::int64_t start_seconds = 0;
  std::int64_t start_nanoseconds = 0;
};

Survey survey(const std::filesystem::path& file) {
  Survey found;
  fabric::CaptureReader reader(file);
  const auto packet = std::make_unique<fabric::Packet>();
  std::size_t packets = 0;
  for (fabric::CapturedFrame frame; packets < kPacketsLookedAt && reader.next(frame);) {
    if (!decode_captured(reader.link_type(), frame.bytes, *packet).is_roce()) continue;
    ++packets;
    const Key key{packet->address.dst_gid, packet->dest_qp, packet->psn, packet->opcode,
                  packet->payload_size()};
    const auto [place, is_new] = found.sights.try_emplace(key, Sight{frame.time, true});
    if (!is_new) place->second.once = false;
  }
  found.start_seconds = reader.start_seconds();
  found.start_nanoseconds = reader.start_nanoseconds();
  return found;
}

}  // namespace

hw::Time clock_difference(const std::filesystem::path& first, const std::filesystem::path& other) {
  const Survey a = survey(first);
  const Survey b = survey(other);
  const hw::Time starts = (b.start_seconds - a.start_seconds) * hw::kSecond +
                          (b.start_nanoseconds - a.start_nanoseconds) * hw::kNanosecond;
  std::map<hw::Gid, std::vector<hw::Time>> differences;  // by destination
  for (const auto& [key, sight] : a.sights) {
    const auto twin = b.sights.find(key);
    if (!sight.once || twin == b.sights.end() || !twin->second.once) continue;
    differences[std::get<hw::Gid>(key)].push_back(starts + twin->second.time - sight.time);
  }
  if (differences.empty()) return 0;
  hw::Time least = hw::kNever;
  hw::Time most = std::numeric_limits<hw::Time>::min();
  for (auto& [destination, of_it] : differences) {
    const auto middle = of_it.begin() + std::ssize(of_it) / 2;
    std::ranges::nth_element(of_it, middle);
    least = std::min(least, *middle);
    most = std::max(most, *middle);
  }
  return least + (most - least) / 2;
}

}  // namespace hcasim::sim
