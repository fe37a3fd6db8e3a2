// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "conformance/failure_injection/failing_memory.hpp"

#include "support/replaced_new.hpp"

namespace hcasim::testing_support {
namespace {

bool active = false;
int counted = 0;
int fails_at = 0;
int own = 0;

}  // namespace

FailingMemory::FailingMemory(int left) {
  counted = 0;
  fails_at = left;
  active = true;
  testing::allocation_fails = [](testing::NewForm) { return fails(); };
}
FailingMemory::~FailingMemory() {
  active = false;
  testing::allocation_fails = nullptr;
}
int FailingMemory::count() {
  return counted;
}
bool FailingMemory::fails() {
  return active && own == 0 && counted++ == fails_at;
}

OwnMemory::OwnMemory() {
  ++own;
}
OwnMemory::~OwnMemory() {
  --own;
}

}  // namespace hcasim::testing_support
