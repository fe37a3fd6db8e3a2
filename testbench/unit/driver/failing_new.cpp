// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "unit/driver/failing_new.hpp"

#include <new>

namespace {

constexpr int kNever = -1;
int left_until_failure = kNever;

bool fails() {
  if (left_until_failure == kNever) return false;
  if (left_until_failure == 0) return true;
  --left_until_failure;
  return false;
}

}  // namespace

namespace hcasim::testing_support {

FailingNew::FailingNew(int left) {
  left_until_failure = left;
}
FailingNew::~FailingNew() {
  left_until_failure = kNever;
}

}  // namespace hcasim::testing_support

// What is not made to fail comes from the ordinary form, which delete belongs to.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return fails() ? nullptr : ::operator new(bytes);
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return fails() ? nullptr : ::operator new[](bytes);
}
