// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "hcasim/hw/time.hpp"

namespace hcasim::testing {

using hw::Time;

/// A latency as the sum of its stages, for people to read.
class Stages {
 public:
  explicit Stages(Time start) : at_(start) {}

  void add(const std::string& name, Time duration) {
    at_ += duration;
    std::printf("  %-52s +%9.3f ns  = %10.3f ns\n", name.c_str(),
                static_cast<double>(duration) / 1000, static_cast<double>(at_) / 1000);
  }
  Time at() const { return at_; }

 private:
  Time at_;
};

}  // namespace hcasim::testing
