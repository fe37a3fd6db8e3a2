// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "hcasim/hw/time.hpp"

namespace hcasim::sim {

/// Something of a trace that did not go well.
struct Mishap {
  std::uint64_t line = 0;  ///< 0: none in particular
  hw::Time at = 0;         ///< since the epoch
  std::string node;
  std::string why;
};

/// A line whose failure ends the run.
class LineError : public std::runtime_error {
 public:
  explicit LineError(Mishap mishap) : std::runtime_error(mishap.why), mishap_(std::move(mishap)) {}
  const Mishap& mishap() const { return mishap_; }

 private:
  Mishap mishap_;
};

}  // namespace hcasim::sim
