// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hcasim::testing_support {

/// While it lives, allocations of the heap and of the host's memory are counted, and the one that
/// comes after `left` others fails: new throws, or is null with std::nothrow. The rest is served.
class FailingMemory {
 public:
  explicit FailingMemory(int left);
  ~FailingMemory();
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;

  /// Allocations since it began.
  static int count();
  /// True when this allocation, which counts, is the one to fail.
  static bool fails();
};

/// Allocations while it lives are the test's own: they neither count nor fail.
class OwnMemory {
 public:
  OwnMemory();
  ~OwnMemory();
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;
};

}  // namespace hcasim::testing_support
