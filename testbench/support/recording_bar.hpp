// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "pcie/dma.hpp"
#include "sim/engine/engine.hpp"

namespace hcasim::testing {

/// A BAR that writes down what arrives and refuses writes as long as the test wants.
class RecordingBar : public pcie::BarTarget {
 public:
  struct Write {
    std::uint64_t offset;
    std::vector<std::uint8_t> bytes;
    hw::Time at;
    std::uint64_t value() const {
      std::uint64_t v = 0;
      std::memcpy(&v, bytes.data(), std::min<std::size_t>(bytes.size(), 8));
      return v;
    }
  };

  explicit RecordingBar(const sim::Engine& engine) : engine_(engine) {}

  bool bar_write(std::uint64_t offset, const void* data, std::uint32_t bytes) override {
    ++offered;
    if (full) return false;
    const auto* first = static_cast<const std::uint8_t*>(data);
    writes.push_back({offset, {first, first + bytes}, engine_.now()});
    return true;
  }
  std::uint64_t bar_read(std::uint64_t offset) override {
    read_at = engine_.now();
    return offset * 3;
  }

  std::vector<Write> writes;
  hw::Time read_at = -1;
  int offered = 0;
  bool full = false;

 private:
  const sim::Engine& engine_;
};

}  // namespace hcasim::testing
